// Checks of pointwise rows: rows of the table, and rows that a test defines.
#pragma once

#include <vector>

#include "crisol/tensor.h"
#include "reference/compare.h"
#include "support/pointwise/pointwise_calls.h"

namespace crisol::testing {

/// The kernels that test programs use. Either the same kernels as ops on this device, or kernels with vectors of 4. On
/// CPUs, these compile in a fraction of the time that vectors of 16 take.
enum class Program { as_used, quick_to_compile };

/// The results of several rows on the same inputs, in as few programs as possible. Each row takes the first inputs of
/// the list, but `mask` (bool) for a condition. Its numbers come from the reference.
std::vector<Tensor> run_rows(const std::vector<RowUnderTest>& rows, const std::vector<Tensor>& inputs,
                             const Tensor& mask, Program program = Program::quick_to_compile);
/// The same for the derivatives by input k, times dy. Every row must have this derivative.
std::vector<Tensor> run_derivatives(const std::vector<RowUnderTest>& rows, std::size_t k, const Tensor& dy,
                                    const std::vector<Tensor>& inputs, const Tensor& mask);

/// A row's expected results for inputs of one length, from its reference, converted to the values that a dtype stores.
std::vector<double> expected_values(const RowUnderTest& row, const std::vector<std::vector<double>>& inputs,
                                    DType result);
std::vector<double> expected_derivatives(const RowUnderTest& row, std::size_t k, const std::vector<double>& dy,
                                         const std::vector<std::vector<double>>& inputs);

/// Fails unless the row has a formula, a range, and a reference for every derivative. The derivatives must agree with
/// differences of the reference's value.
void check_reference(const RowUnderTest& row);

/// Runs the row alone: the raw op, its backward, the differentiable function, and central differences of the function.
/// Fails unless they give the reference's values and gradients.
void check_row(const RowUnderTest& row);

/// Fails unless every element is within factor * epsilon * max(1, |expected|). Integers and bool must be equal.
bool check_each(const Tensor& actual, const std::vector<double>& expected, double factor);

using reference::ulp_error;

}  // namespace crisol::testing
