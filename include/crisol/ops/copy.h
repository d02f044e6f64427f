// Raw copies: any strides, any pair of dtypes. Not recorded by autograd.
#pragma once

#include "crisol/tensor.h"

namespace crisol::ops {

/// x itself where it is contiguous, else a contiguous copy.
CRISOL_API Tensor contiguous(const Tensor& x);

/// A contiguous copy.
CRISOL_API Tensor clone(const Tensor& x);

/// A contiguous copy with the elements along each of `axes` in the opposite order.
CRISOL_API Tensor flip(const Tensor& x, const Shape& axes);

/// A contiguous copy in another dtype; x itself where it has the dtype already. Floats become integers toward zero
/// (undefined outside the integer's range), anything becomes bool as != 0, f16 rounds to nearest even.
CRISOL_API Tensor cast(const Tensor& x, DType dtype);

/// dst[…] = src[…], src broadcast to dst's shape, converted as cast does; both may have any strides. A src on another
/// device comes through the host. Refuses a dst with an expanded axis (elements that share memory) and shapes that do
/// not broadcast. dst and src must not overlap unless they are the same elements.
CRISOL_API void copy_into(const Tensor& dst, const Tensor& src);

/// Sets every element of dst, which may have any strides, to `value` converted to its dtype.
CRISOL_API void fill_into(const Tensor& dst, const Scalar& value);

}  // namespace crisol::ops
