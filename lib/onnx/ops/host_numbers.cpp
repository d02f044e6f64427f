#include "onnx/ops/host_numbers.h"

#include <algorithm>

#include "crisol/dtype_table.h"
#include "ops/collapse.h"

namespace crisol::onnx {

using graph::Datum;

namespace {

std::int64_t wrap(std::uint64_t bits) { return static_cast<std::int64_t>(bits); }

}  // namespace

std::optional<Shape> shape_on_host(std::span<const Datum> in) {
  Shape shape;
  for (const Datum& x : in) {
    if (!x.on_host()) return {};
    shape = ops::broadcast_shape("onnx", shape, x.shape());
  }
  if (shape.numel() > most_on_host) return {};
  return shape;
}

Numbers expanded(const Datum& x, const Shape& shape) {
  Numbers numbers = x.numbers();
  if (x.shape() == shape) return numbers;
  Shape strides = Shape::filled(shape.rank(), 0), place = strides;
  std::int64_t stride = 1;
  for (int i = x.shape().rank() - 1, at = shape.rank() - 1; i >= 0; --i, --at) {
    if (x.shape()[i] != 1) strides[at] = stride;
    stride *= x.shape()[i];
  }
  Numbers result(static_cast<std::size_t>(shape.numel()));
  std::int64_t from = 0;
  for (std::int64_t& number : result) {
    number = numbers[static_cast<std::size_t>(from)];
    for (int i = shape.rank() - 1; i >= 0; --i) {
      from += strides[i];
      if (++place[i] < shape[i]) break;
      from -= strides[i] * shape[i];
      place[i] = 0;
    }
  }
  return result;
}

Datum wrapped(Numbers numbers, const Shape& shape, DType dtype) {
  for (std::int64_t& number : numbers) {
    if (dtype == DType::i32) number = static_cast<std::int32_t>(number);
    if (dtype == DType::boolean) number = number == 0 ? 0 : 1;
  }
  return Datum(std::move(numbers), shape, dtype);
}

Datum converted(const Datum& x, DType dtype, Device device) {
  const bool stays = holds_counts(dtype) || dtype == DType::boolean;
  if (x.on_host() && stays) return wrapped(x.numbers(), x.shape(), dtype);
  return x.tensor(device).to(dtype);
}

std::optional<Datum> map_on_host(std::span<const Datum> in, DType dtype,
                                 const std::function<std::int64_t(const std::int64_t* operands)>& f) {
  const auto shape = shape_on_host(in);
  if (!shape) return {};
  std::vector<Numbers> lists;
  for (const Datum& x : in) lists.push_back(expanded(x, *shape));
  Numbers result(static_cast<std::size_t>(shape->numel())), operands(in.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::transform(lists.begin(), lists.end(), operands.begin(), [i](const Numbers& list) { return list[i]; });
    result[i] = f(operands.data());
  }
  return wrapped(std::move(result), *shape, dtype);
}

std::int64_t sum_on_host(std::int64_t a, std::int64_t b) {
  return wrap(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t difference_on_host(std::int64_t a, std::int64_t b) {
  return wrap(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
std::int64_t product_on_host(std::int64_t a, std::int64_t b) {
  return wrap(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
std::int64_t quotient_on_host(std::int64_t a, std::int64_t b) {
  return b == 0 ? 0 : b == -1 ? difference_on_host(0, a) : a / b;
}
std::int64_t rest_on_host(std::int64_t a, std::int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
std::int64_t remainder_on_host(std::int64_t a, std::int64_t b) {
  const std::int64_t rest = rest_on_host(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

}  // namespace crisol::onnx
