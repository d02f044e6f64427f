// Rules that many ops share.
#pragma once

#include <algorithm>

#include "base/text.h"
#include "crisol/tensor.h"
#include "tensor/impl.h"

namespace crisol::ops {

/// Like normalized_axis, but a scalar (rank 0) has the axes 0 and -1 too, as in PyTorch. The result is then 0, although
/// a scalar's shape has no size there.
inline int axis_or_scalar(const char* op, std::int64_t axis, int rank) {
  return normalized_axis(op, axis, std::max(rank, 1));
}

// These checks run in every call. The parts of a message are computed only if the check fails.

inline void require_dtype(const char* op, const char* name, const Tensor& x, DType dtype) {
  if (x.dtype() != dtype) fail(ErrorCode::invalid_argument, op, name, " must be ", dtype, ", it is ", x.dtype());
}

inline void require_shape(const char* op, const char* name, const Tensor& x, const Shape& shape) {
  if (x.shape() != shape)
    fail(ErrorCode::invalid_argument, op, name, " must have shape ", shape, ", it has ", x.shape());
}

/// Checks that `y` is on the device of `x`.
inline void require_device(const char* op, const char* x_name, const Tensor& x, const char* y_name, const Tensor& y) {
  if (x.device() != y.device())
    fail(ErrorCode::invalid_argument, op, x_name, " is on ", x.device(), ", ", y_name, " on ", y.device());
}

/// Checks a further operand: of the given dtype and shape, on the device of `x`.
inline void require_operand(const char* op, const char* x_name, const Tensor& x, const char* y_name, const Tensor& y,
                            const Shape& shape, DType dtype = DType::f32) {
  require_dtype(op, y_name, y, dtype);
  require_shape(op, y_name, y, shape);
  require_device(op, x_name, x, y_name, y);
}

}  // namespace crisol::ops
