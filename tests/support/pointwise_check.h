// Checks of pointwise rows: the same for those of the table and for one that a test makes up.
#pragma once

#include <vector>

#include "crisol/tensor.h"
#include "reference/compare.h"
#include "support/pointwise_calls.h"

namespace crisol::testing {

/// Which kernels test programs are: those that ops use on this device, or ones with vectors of 4, which on CPUs compile
/// in a fraction of the time that vectors of 16 take.
enum class Program { as_used, quick_to_compile };

/// Results of several rows on the same inputs, in as few programs as they fit into. Each row takes the first inputs of
/// the list, but `mask` (bool) for a condition; its numbers are the reference's.
std::vector<Tensor> run_rows(const std::vector<RowUnderTest>& rows, const std::vector<Tensor>& inputs,
                             const Tensor& mask, Program program = Program::quick_to_compile);
/// The same for the derivatives by input k, times dy. Every row must have one.
std::vector<Tensor> run_derivatives(const std::vector<RowUnderTest>& rows, std::size_t k, const Tensor& dy,
                                    const std::vector<Tensor>& inputs, const Tensor& mask);

/// What a row shall give for inputs of one length, as its reference says, converted to a dtype as it is stored there.
std::vector<double> expected_values(const RowUnderTest& row, const std::vector<std::vector<double>>& inputs,
                                    DType result);
std::vector<double> expected_derivatives(const RowUnderTest& row, std::size_t k, const std::vector<double>& dy,
                                         const std::vector<std::vector<double>>& inputs);

/// Fails unless the row has a formula, a range, and a reference for every derivative that agrees with the differences
/// of the reference's value.
void check_reference(const RowUnderTest& row);

/// Fails unless the row gives its reference's values and gradients when it is run by itself: the raw op, its backward,
/// the differentiable function, and central differences of it.
void check_row(const RowUnderTest& row);

/// Fails unless every element is within factor * epsilon * max(1, |expected|); integers and bool are equal.
bool check_each(const Tensor& actual, const std::vector<double>& expected, double factor);

using reference::ulp_error;

}  // namespace crisol::testing
