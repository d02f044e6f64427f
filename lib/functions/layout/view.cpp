// Tensor's differentiable views and copies. The gradient of a view is the opposite view, or a tensor of zeros with the
// gradient where the view lies.
#include "crisol/ops/view.h"
#include "autograd/call.h"
#include "base/text.h"
#include "crisol/ops/copy.h"
#include "functions/gradients.h"
#include "functions/traced/traced.h"
#include "ops/check.h"

namespace crisol {

using autograd::call;
using autograd::unnoted;

Tensor Tensor::reshape(const Shape& wanted) const {
  return call(
      "reshape", {*this}, ops::reshape(*this, wanted),
      [&](Trace& trace, const Tensor& y) { traced::reshape(trace, *this, y); },
      [&] { return [shape = shape()](const Tensor& dy) { return dy.reshape(shape); }; });
}

Tensor Tensor::flatten(int first, int last) const {
  const int from = ops::axis_or_scalar("flatten", first, dim());
  const int to = ops::axis_or_scalar("flatten", last, dim());
  require(from <= to, "flatten", "first axis ", first, " lies behind last axis ", last, " of shape ", shape());
  Shape merged;
  for (int i = 0; i < from; ++i) merged.push_back(size(i));
  std::int64_t product = 1;
  for (int i = from; i <= to && i < dim(); ++i) product *= size(i);
  merged.push_back(product);
  for (int i = to + 1; i < dim(); ++i) merged.push_back(size(i));
  return reshape(merged);
}

Tensor Tensor::permute(const Shape& axes) const {
  return call(
      "permute", {*this}, ops::permute(*this, axes),
      [&](Trace& trace, const Tensor& y) { traced::permute(trace, *this, axes, y); },
      [&] {
        Shape inverse = axes;
        for (int i = 0; i < axes.rank(); ++i) inverse[normalized_axis("permute", axes[i], dim())] = i;
        return [inverse](const Tensor& dy) { return dy.permute(inverse); };
      });
}

Tensor Tensor::transpose(int axis_a, int axis_b) const {
  return call(
      "transpose", {*this}, ops::transpose(*this, axis_a, axis_b),
      [&](Trace& trace, const Tensor& y) { traced::transpose(trace, *this, axis_a, axis_b, y); },
      [&] { return [axis_a, axis_b](const Tensor& dy) { return dy.transpose(axis_a, axis_b); }; });
}

Tensor Tensor::t() const {
  require(dim() <= 2, "t", "the tensor has shape ", shape(), ", the rank must be at most 2; use transpose() or T()");
  return dim() == 2 ? transpose(0, 1) : *this;
}

Tensor Tensor::T() const {
  Shape axes = Shape::filled(dim(), 0);
  for (int i = 0; i < dim(); ++i) axes[i] = dim() - 1 - i;
  return permute(axes);
}

Tensor Tensor::narrow(int axis, std::int64_t start, std::int64_t length) const {
  if (start < 0) {  // Counted from the end.
    const int at = normalized_axis("narrow", axis, dim());
    if (start >= -size(at) && length <= -start) return narrow(at, start + size(at), length);
  }
  return call(
      "narrow", {*this}, ops::narrow(*this, axis, start, length),
      [&](Trace& trace, const Tensor& y) { traced::narrow(trace, *this, axis, start, length, y); },
      [&] {
        return [shape = shape(), axis, start, length](const Tensor& dy) {
          const auto view = [axis, start, length](const Tensor& x) { return x.narrow(axis, start, length); };
          return autograd::view_backward(dy, shape, view);
        };
      });
}

Tensor Tensor::select(int axis, std::int64_t index) const {
  const int at = normalized_axis("select", axis, dim());
  require_in_range(index >= -size(at) && index < size(at), "select", "index ", index, " is out of range for axis ",
                   axis, " of shape ", shape());
  const Tensor row = narrow(at, index < 0 ? index + size(at) : index, 1);
  return row.squeeze(at);
}

Tensor Tensor::expand(const Shape& wanted) const {
  return call(
      "expand", {*this}, ops::expand(*this, wanted),
      [&](Trace& trace, const Tensor& y) { traced::expand(trace, *this, y); },
      [&] { return [shape = shape()](const Tensor& dy) { return autograd::sum_to(dy, shape); }; });
}

Tensor Tensor::squeeze(int axis) const {
  const int at = ops::axis_or_scalar("squeeze", axis, dim());
  if (dim() == 0 || size(at) != 1) return *this;
  Shape smaller = shape();
  smaller.erase(at);
  return reshape(smaller);
}

Tensor Tensor::unsqueeze(int axis) const {
  Shape larger = shape();
  larger.insert(normalized_axis("unsqueeze", axis, dim() + 1), 1);
  return reshape(larger);
}

Tensor Tensor::contiguous() const {
  if (is_contiguous()) return *this;
  return clone();
}

Tensor Tensor::clone() const {
  return call(
      "clone", {*this}, ops::clone(*this), [&](Trace& trace, const Tensor& y) { trace.bind(y, trace.of(*this)); },
      [&] { return [](const Tensor& dy) { return dy; }; });
}

Tensor Tensor::to(Device target) const {
  if (target == device()) return *this;
  std::vector<std::byte> bytes(static_cast<std::size_t>(numel()) * size_of(dtype()));
  read_bytes(bytes.data());
  return call("to", {*this}, from_bytes(bytes.data(), shape(), dtype(), target), unnoted,
              [&] { return [source = device()](const Tensor& dy) { return dy.to(source); }; });
}

Tensor Tensor::to(DType target) const {
  if (target == dtype()) return *this;
  return call(
      "to", {*this}, ops::cast(*this, target), [&](Trace& trace, const Tensor& y) { traced::to(trace, *this, y); },
      [&] { return [source = dtype()](const Tensor& dy) { return dy.to(source); }; });
}

}  // namespace crisol
