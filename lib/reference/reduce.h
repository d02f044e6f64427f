// Host references of the reductions, in double.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "crisol/shape.h"

namespace crisol::reference {

/// The elements of x (contiguous values of `shape`) that belong to each output of a reduction over `axes`. Elements and
/// outputs are in C's order. Empty `axes` means all axes.
std::vector<std::vector<double>> reduction_groups(const std::vector<double>& x, const Shape& shape, const Shape& axes);

/// For each element of x, the index of the output to which it belongs.
std::vector<std::int64_t> reduction_outputs(const Shape& shape, const Shape& axes);

double sum(const std::vector<double>& values);
double largest(const std::vector<double>& values);               ///< NaN if a value is NaN.
double smallest(const std::vector<double>& values);              ///< NaN if a value is NaN.
std::int64_t first_largest(const std::vector<double>& values);   ///< Its position. The first NaN counts as the
                                                                 /// largest.
std::int64_t first_smallest(const std::vector<double>& values);  ///< Its position. The first NaN counts as the
                                                                 /// smallest.
double product(const std::vector<double>& values);
double mean(const std::vector<double>& values);
double variance(const std::vector<double>& values, double correction);
double norm(const std::vector<double>& values, double p);  ///< p may be 0 or infinite.
double log_sum_exp(const std::vector<double>& values);
double any(const std::vector<double>& values);  ///< 0 or 1.
double all(const std::vector<double>& values);  ///< 0 or 1.

/// Along an axis, each element is combined with the result before it: std::plus<>() gives running sums. `reverse`
/// starts from the end.
std::vector<double> running(const std::vector<double>& x, const Shape& shape, int axis,
                            const std::function<double(double, double)>& combine, bool reverse = false);

/// The gradient d sum(dy y) / dx of a reduction `y`, by central differences of the reference with step 1e-5.
std::vector<double> reduction_gradient(const std::vector<double>& x, const Shape& shape, const Shape& axes,
                                       const std::vector<double>& dy,
                                       const std::function<double(const std::vector<double>&)>& y);

}  // namespace crisol::reference
