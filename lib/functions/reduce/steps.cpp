// Functions of neighbours along an axis, and counts, made of sums, joins and slices.
#include "base/text.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/reduce.h"
#include "tensor/impl.h"

namespace crisol {

namespace {

/// Puts a slice of the number `first` in front of y along the axis.
Tensor with_initial(const Tensor& y, int axis, double first) {
  Shape shape = y.shape();
  shape[normalized_axis("cumulative", axis, y.dim())] = 1;
  return cat({full(shape, first, y.dtype(), y.device()), y}, axis);
}

}  // namespace

Tensor cumulative_sum(const Tensor& x, int axis, bool include_initial) {
  const Tensor y = cumsum(x, axis);
  return include_initial && y.dim() > 0 ? with_initial(y, axis, 0) : y;
}

Tensor cumulative_prod(const Tensor& x, int axis, bool include_initial) {
  const Tensor y = cumprod(x, axis);
  return include_initial && y.dim() > 0 ? with_initial(y, axis, 1) : y;
}

Tensor count_nonzero(const Tensor& x, const Shape& axes, bool keepdim) {
  require(x.defined(), "count_nonzero", "the tensor is undefined");
  return sum(ne(x, 0), axes, keepdim);
}

Tensor diff(const Tensor& x, std::int64_t n, int axis, const Tensor& prepend, const Tensor& append) {
  constexpr const char* op = "diff";
  require(x.defined(), op, "the tensor is undefined");
  require(n >= 0, op, "n is ", n, ", it must not be negative");
  const int at = normalized_axis(op, axis, x.dim());
  std::vector<Tensor> parts;
  for (const Tensor& part : {prepend, x, append})
    if (part.defined()) parts.push_back(part);
  Tensor y = parts.size() == 1 ? x : cat(parts, at);
  for (std::int64_t i = 0; i < n && y.size(at) > 0; ++i) {
    const std::int64_t steps = y.size(at) - 1;
    const Tensor next = y.narrow(at, 1, steps), before = y.narrow(at, 0, steps);
    y = y.dtype() == DType::boolean ? ne(next, before) : next - before;
  }
  return y.shares_storage_with(x) ? y.clone() : y;
}

}  // namespace crisol
