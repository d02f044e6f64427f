// Tensor's differentiable views and copies. The gradient of a view is the opposite view, or a tensor of zeros with the
// gradient where the view lies.
#include "crisol/ops/view.h"
#include "autograd/node.h"
#include "base/text.h"
#include "crisol/ops/copy.h"
#include "functions/gradients.h"
#include "functions/traced/traced.h"
#include "ops/check.h"

namespace crisol {

using autograd::Gradients;
using autograd::Needs;

Tensor Tensor::reshape(const Shape& wanted) const {
  const Tensor y = ops::reshape(*this, wanted);
  if (Recorder* r = recorder()) traced::reshape(*r, *this, y);
  if (!autograd::recording(*this)) return y;
  return autograd::record_higher("reshape", y, {*this},
                                 [shape = shape()](const Tensor& dy, Needs) { return Gradients{dy.reshape(shape)}; });
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
  const Tensor y = ops::permute(*this, axes);
  if (Recorder* r = recorder()) traced::permute(*r, *this, axes, y);
  if (!autograd::recording(*this)) return y;
  Shape inverse = axes;
  for (int i = 0; i < axes.rank(); ++i) inverse[normalized_axis("permute", axes[i], dim())] = i;
  return autograd::record_higher("permute", y, {*this},
                                 [inverse](const Tensor& dy, Needs) { return Gradients{dy.permute(inverse)}; });
}

Tensor Tensor::transpose(int axis_a, int axis_b) const {
  const Tensor y = ops::transpose(*this, axis_a, axis_b);
  if (Recorder* r = recorder()) traced::transpose(*r, *this, axis_a, axis_b, y);
  if (!autograd::recording(*this)) return y;
  return autograd::record_higher("transpose", y, {*this}, [axis_a, axis_b](const Tensor& dy, Needs) {
    return Gradients{dy.transpose(axis_a, axis_b)};
  });
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
  const Tensor y = ops::narrow(*this, axis, start, length);
  if (Recorder* r = recorder()) traced::narrow(*r, *this, axis, start, length, y);
  if (!autograd::recording(*this)) return y;
  return autograd::record_higher("narrow", y, {*this}, [shape = shape(), axis, start, length](const Tensor& dy, Needs) {
    const auto view = [axis, start, length](const Tensor& x) { return x.narrow(axis, start, length); };
    return Gradients{autograd::view_backward(dy, shape, view)};
  });
}

Tensor Tensor::select(int axis, std::int64_t index) const {
  const int at = normalized_axis("select", axis, dim());
  require(index >= -size(at) && index < size(at), "select", "index ", index, " is out of range for axis ", axis,
          " of shape ", shape());
  const Tensor row = narrow(at, index < 0 ? index + size(at) : index, 1);
  return row.squeeze(at);
}

Tensor Tensor::expand(const Shape& wanted) const {
  const Tensor y = ops::expand(*this, wanted);
  if (Recorder* r = recorder()) traced::expand(*r, *this, y);
  if (!autograd::recording(*this)) return y;
  return autograd::record_higher("expand", y, {*this}, [shape = shape()](const Tensor& dy, Needs) {
    return Gradients{autograd::sum_to(dy, shape)};
  });
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
  const Tensor y = ops::clone(*this);
  if (Recorder* r = recorder()) r->bind(y, r->of(*this));
  if (!autograd::recording(*this)) return y;
  return autograd::record_higher("clone", y, {*this}, [](const Tensor& dy, Needs) { return Gradients{dy}; });
}

Tensor Tensor::to(Device target) const {
  if (target == device()) return *this;
  std::vector<std::byte> bytes(static_cast<std::size_t>(numel()) * size_of(dtype()));
  read_bytes(bytes.data());
  const Tensor y = from_bytes(bytes.data(), shape(), dtype(), target);
  if (!autograd::recording(*this)) return y;
  return autograd::record_higher("to", y, {*this},
                                 [source = device()](const Tensor& dy, Needs) { return Gradients{dy.to(source)}; });
}

Tensor Tensor::to(DType target) const {
  if (target == dtype()) return *this;
  const Tensor y = ops::cast(*this, target);
  if (Recorder* r = recorder()) traced::to(*r, *this, y);
  // Integers have no gradient.
  if (!is_floating(target) || !autograd::recording(*this)) return y;
  return autograd::record_higher("to", y, {*this},
                                 [source = dtype()](const Tensor& dy, Needs) { return Gradients{dy.to(source)}; });
}

}  // namespace crisol
