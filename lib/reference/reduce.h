// Host references of the reductions, in double.
#pragma once

#include <cstdint>
#include <vector>

#include "crisol/shape.h"

namespace crisol::reference {

/// Elements of x (contiguous values of `shape`) that each output of a reduction over `axes` is made from, in order;
/// outputs in order. No axes means all.
std::vector<std::vector<double>> reduction_groups(const std::vector<double>& x, const Shape& shape, const Shape& axes);

/// For each element of x the output that it belongs to.
std::vector<std::int64_t> reduction_outputs(const Shape& shape, const Shape& axes);

double sum(const std::vector<double>& values);
double largest(const std::vector<double>& values);              ///< NaN where there is one.
double smallest(const std::vector<double>& values);             ///< NaN where there is one.
std::int64_t first_largest(const std::vector<double>& values);  ///< Position; of the first NaN where there is one.

}  // namespace crisol::reference
