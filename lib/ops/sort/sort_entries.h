// Elements as entries for sort_rows, and back: cl_kernels/sort/sort_entries.cl.
#pragma once

#include <cstdint>

#include "crisol/ops/sort.h"
#include "runtime/launch.h"

namespace crisol::ops {

/// TYPE of sort/sort_key.h. i64 has two keys: this is the one with the lower half.
const char* key_type(DType dtype);

/// All ones where the order is turned round, else 0.
inline std::uint32_t flip_of(bool descending) { return descending ? 0xffffffffu : 0u; }

/// The entries of contiguous rows (rows, n) in order: an i64 tensor (rows, n).
Tensor sorted_entries(const Tensor& x, bool descending);

/// The elements of x (rows, n), and positions, that the first k entries of each row of `entries` stand for.
SortResult take_elements(const Tensor& x, const Tensor& entries, std::int64_t k);

}  // namespace crisol::ops
