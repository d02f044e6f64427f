// Pools of types that no pool's kernel computes in: f64 and whole numbers. They are made of other ops.
#pragma once

#include "crisol/ops/pool.h"
#include "ops/pool/pool_geometry.h"

namespace crisol::ops {

MaxPool2dResult wide_max_pool2d(const PoolGeometry& g, const Tensor& x);
/// The gradient of x, in `shape`.
Tensor wide_max_pool2d_backward(const Tensor& dy, const Tensor& indices, const Shape& shape);

/// How many elements an average pool divides by. If `divisor` is 0, it is the number of a window's elements.
struct PoolDivisor {
  bool include_pad;
  std::int64_t divisor;
};
Tensor wide_avg_pool2d(const PoolGeometry& g, const Tensor& x, const PoolDivisor& divisor);
/// The gradient of x, in `shape`.
Tensor wide_avg_pool2d_backward(const PoolGeometry& g, const Tensor& dy, const Shape& shape,
                                const PoolDivisor& divisor);

/// The means over windows that divide axes 2 and 3 into as many parts as `shape` says.
Tensor wide_adaptive_avg_pool2d(const Tensor& x, const Shape& shape);
/// The gradient of x, in `shape`.
Tensor wide_adaptive_avg_pool2d_backward(const Tensor& dy, const Shape& shape);

}  // namespace crisol::ops
