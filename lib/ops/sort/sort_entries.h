// Conversion of elements to entries for sort_rows, and back: cl_kernels/sort/sort_entries.cl.
#pragma once

#include <cstdint>

#include "crisol/ops/sort.h"
#include "runtime/launch.h"

namespace crisol::ops {

/// The TYPE of sort/sort_key.h. i64 has two keys; the result is the key of the lower half.
const char* key_type(DType dtype);

/// All ones for descending order, otherwise 0.
inline std::uint32_t flip_of(bool descending) { return descending ? 0xffffffffu : 0u; }

/// The sorted entries of contiguous rows (rows, n): an i64 tensor (rows, n).
Tensor sorted_entries(const Tensor& x, bool descending);

/// The values and positions of the elements of x (rows, n) that the first k entries of each row of `entries` refer to.
SortResult take_elements(const Tensor& x, const Tensor& entries, std::int64_t k);

}  // namespace crisol::ops
