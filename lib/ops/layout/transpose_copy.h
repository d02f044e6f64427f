// Copies whose source is contiguous along another axis than the destination.
#pragma once

#include <optional>

#include "crisol/tensor.h"

namespace crisol::ops {

/// Queues the copy and returns true, if that is what it is and the elements have 4 bytes. The caller has checked
/// dtypes (equal), devices, overlap, and that src broadcasts to dst.
bool transpose_copy(const Tensor& dst, const Tensor& src);

/// A contiguous copy of a large tensor whose contiguous axis is not the last: what kernels that walk along the last
/// axis read many times faster. Nothing for others.
std::optional<Tensor> turned(const Tensor& x);

}  // namespace crisol::ops
