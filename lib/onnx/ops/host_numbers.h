// Whole numbers on the host. Ops compute on them as on tensors: operands are broadcast, and i32 wraps around.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "onnx/ops/axes.h"

namespace crisol::onnx {

/// Shapes, and positions computed from them, have few numbers. For more numbers the device is faster.
constexpr std::int64_t most_on_host = 4096;

/// The shape to which the values are broadcast, by the rule for tensors. Nothing if the device must compute the result:
/// if a value is not on the host, or the result is large.
std::optional<Shape> shape_on_host(std::span<const graph::Datum> in);

/// The numbers of a value, broadcast to a shape.
Numbers expanded(const graph::Datum& x, const Shape& shape);

/// A value on the host with these numbers, converted to `dtype`: i32 keeps the last 32 bits, and bool becomes 0 or 1.
graph::Datum wrapped(Numbers numbers, const Shape& shape, DType dtype);

/// Converts a value to another element type. Whole numbers on the host stay on the host.
graph::Datum converted(const graph::Datum& x, DType dtype, Device device);

/// Applies a function of single numbers. Nothing if the device must compute the result. `dtype` is the result's type.
std::optional<graph::Datum> map_on_host(std::span<const graph::Datum> in, DType dtype,
                                        const std::function<std::int64_t(const std::int64_t* operands)>& f);

// Functions of two numbers. Overflow wraps around. A quotient or remainder by 0 is 0, as on a device.
std::int64_t sum_on_host(std::int64_t a, std::int64_t b);
std::int64_t difference_on_host(std::int64_t a, std::int64_t b);
std::int64_t product_on_host(std::int64_t a, std::int64_t b);
std::int64_t quotient_on_host(std::int64_t a, std::int64_t b);
/// The remainder with the sign of `a`.
std::int64_t rest_on_host(std::int64_t a, std::int64_t b);
/// The remainder with the sign of `b`.
std::int64_t remainder_on_host(std::int64_t a, std::int64_t b);

}  // namespace crisol::onnx
