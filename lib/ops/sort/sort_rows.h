// Sorting rows of entries: the core of sort, topk and of adding by index on GPUs.
#pragma once

#include "crisol/tensor.h"

namespace crisol::ops {

/// The most entries of a row: positions have 32 bits, and the largest marks an empty place.
inline constexpr std::int64_t longest_sorted_row = (std::int64_t{1} << 32) - 2;

/// Sorts each row of entries (rows, n), held in an i64 tensor and read as unsigned: key * 2^32 + position, where the
/// positions of a row are in order at first, so equal keys stay in order. Overwrites `entries`; the result is that or
/// another tensor. Variants of "sort": radix (CPUs), merge.
Tensor sort_rows(const Tensor& entries);

}  // namespace crisol::ops
