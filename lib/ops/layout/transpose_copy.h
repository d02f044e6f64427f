// Copies whose source and destination are contiguous along different axes.
#pragma once

#include <optional>

#include "crisol/tensor.h"

namespace crisol::ops {

/// Queues the copy and returns true if it is such a copy and the elements have 4 bytes. The caller has checked that the
/// dtypes are equal and that src broadcasts to dst. It has also checked devices and overlap.
bool transpose_copy(const Tensor& dst, const Tensor& src);

/// Returns a contiguous copy of a large tensor that is contiguous along an axis other than the last. Kernels that walk
/// along the last axis read this copy many times faster. Returns nothing for other tensors.
std::optional<Tensor> transposed_copy(const Tensor& x);

}  // namespace crisol::ops
