// Sorting rows of entries. sort, topk and adding by index on GPUs are built on it.
#pragma once

#include "crisol/tensor.h"

namespace crisol::ops {

/// The largest number of entries in a row. Positions have 32 bits, and the largest position marks an empty place.
inline constexpr std::int64_t longest_sorted_row = (std::int64_t{1} << 32) - 2;

/// Sorts each row of entries (rows, n) in an i64 tensor that is read as unsigned. An entry is key * 2^32 + position.
/// The caller gives the positions of a row in order, so equal keys stay in order. Overwrites `entries`; returns this
/// tensor or another one. The variants of "sort" are radix (CPUs) and merge.
Tensor sort_rows(const Tensor& entries);

}  // namespace crisol::ops
