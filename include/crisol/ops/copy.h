// Raw copies, not recorded by autograd. Tensors may have any strides and any two dtypes.
#pragma once

#include "crisol/tensor.h"

namespace crisol::ops {

/// x itself if it is contiguous, otherwise a contiguous copy.
CRISOL_API Tensor contiguous(const Tensor& x);

/// A contiguous copy.
CRISOL_API Tensor clone(const Tensor& x);

/// A contiguous copy with the elements along each of `axes` in the opposite order.
CRISOL_API Tensor flip(const Tensor& x, const Shape& axes);
CRISOL_API void flip_into(const Tensor& out, const Tensor& x, const Shape& axes);

/// A contiguous copy in another dtype, or x itself if it has this dtype. Floats become integers by rounding toward
/// zero. The result is undefined if the integer type cannot hold it. An element becomes bool by `element != 0`. f16 is
/// rounded to nearest even.
CRISOL_API Tensor cast(const Tensor& x, DType dtype);

/// Writes the elements of src to dst. src is broadcast to dst's shape and converted like in cast. Both may have any
/// strides. A src on another device is copied through the host. Refuses shapes that do not broadcast, and a dst with an
/// expanded axis, because its elements share memory. dst and src must not overlap, unless they are the same elements.
CRISOL_API void copy_into(const Tensor& dst, const Tensor& src);

/// Writes elements of host memory to dst, in dst's dtype, outermost axis first. dst may have any strides. The caller
/// may change the host memory as soon as the call returns. Refuses a dst with an expanded axis.
CRISOL_API void write_bytes(const Tensor& dst, const void* bytes);

/// Sets every element of dst to `value`, converted to dst's dtype. dst may have any strides.
CRISOL_API void fill_into(const Tensor& dst, const Scalar& value);

}  // namespace crisol::ops
