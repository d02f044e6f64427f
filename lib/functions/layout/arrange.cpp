// flip, roll, repeat, tile, meshgrid and eye.
#include "crisol/functions/arrange.h"

#include "autograd/call.h"
#include "base/text.h"
#include "crisol/functions/cat.h"
#include "crisol/ops/copy.h"
#include "functions/traced/traced.h"

namespace crisol {

using autograd::call;

namespace {

// The shape with three axes: all axes before `axis`, `axis` itself, and all axes after it.
Shape around(const Shape& shape, int axis) {
  Shape three{1, shape[axis], 1};
  for (int i = 0; i < axis; ++i) three[0] *= shape[i];
  for (int i = axis + 1; i < shape.rank(); ++i) three[2] *= shape[i];
  return three;
}

Tensor roll_axis(const Tensor& x, std::int64_t shift, int axis) {
  const std::int64_t size = x.size(axis);
  if (size == 0) return x;
  const std::int64_t entering = (shift % size + size) % size;
  if (entering == 0) return x;
  return cat({x.narrow(axis, size - entering, entering), x.narrow(axis, 0, size - entering)}, axis);
}

}  // namespace

Tensor flip(const Tensor& x, const Shape& axes) {
  return call(
      "flip", {x}, ops::flip(x, axes), [&](Trace& trace, const Tensor& y) { traced::flip(trace, x, axes, y); },
      [&] { return [axes](const Tensor& dy) { return flip(dy, axes); }; });
}

Tensor roll(const Tensor& x, const Shape& shifts, const Shape& axes) {
  constexpr const char* op = "roll";
  require(x.defined(), op, "the tensor is undefined");
  if (axes.empty()) {
    require(shifts.rank() == 1, op, shifts.rank(), " shifts ", shifts, " without axes; one is allowed");
    return roll_axis(x.reshape(-1), shifts[0], 0).reshape(x.shape()).clone();
  }
  require(shifts.rank() == axes.rank(), op, shifts.rank(), " shifts ", shifts, " for ", axes.rank(), " axes ", axes);
  for (const std::int64_t axis : axes) normalized_axis(op, axis, x.dim());
  Tensor y = x;
  for (int i = 0; i < axes.rank(); ++i) y = roll_axis(y, shifts[i], normalized_axis(op, axes[i], x.dim()));
  return y.shares_storage_with(x) ? y.clone() : y;
}

Tensor repeat(const Tensor& x, const Shape& counts) {
  constexpr const char* op = "repeat";
  require(x.defined(), op, "the tensor is undefined");
  require(counts.rank() >= x.dim(), op, counts.rank(), " counts ", counts, " for a tensor of shape ", x.shape());
  Shape shape = Shape::filled(counts.rank(), 1);
  for (int i = 0; i < x.dim(); ++i) shape[counts.rank() - x.dim() + i] = x.size(i);
  Shape result = shape;
  for (int i = 0; i < counts.rank(); ++i) {
    require(counts[i] >= 0, op, "count ", counts[i], " in ", counts, " is negative");
    result[i] *= counts[i];
  }
  checked_bytes(op, result, x.dtype());
  Tensor y = x.reshape(shape);
  for (int axis = counts.rank() - 1; axis >= 0; --axis) {
    if (counts[axis] == 1) continue;
    const Shape three = around(y.shape(), axis);
    shape = y.shape();
    shape[axis] *= counts[axis];
    y = y.reshape({three[0], 1, three[1] * three[2]})
            .expand({three[0], counts[axis], three[1] * three[2]})
            .reshape(shape);
  }
  // An expanded view must not be returned, because its elements share memory.
  return y.shares_storage_with(x) || !y.is_contiguous() ? y.clone() : y;
}

Tensor tile(const Tensor& x, const Shape& counts) {
  require(x.defined(), "tile", "the tensor is undefined");
  Shape all = Shape::filled(std::max(x.dim() - counts.rank(), 0), 1);
  for (const std::int64_t count : counts) all.push_back(count);
  return repeat(x, all);
}

std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors, bool xy_indexing) {
  constexpr const char* op = "meshgrid";
  require(tensors.size() <= Shape::max_rank, op, tensors.size(), " tensors; at most ", Shape::max_rank, " are allowed");
  const bool exchanged = xy_indexing && tensors.size() >= 2;
  Shape shape;
  for (const Tensor& x : tensors) {
    require(x.defined(), op, "a tensor is undefined");
    require(x.dim() <= 1, op, "a tensor has shape ", x.shape(), ", the rank must be 0 or 1");
    shape.push_back(x.numel());
  }
  if (exchanged) std::swap(shape[0], shape[1]);
  std::vector<Tensor> grids;
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    const int axis = static_cast<int>(exchanged && k < 2 ? 1 - k : k);
    Shape own = Shape::filled(shape.rank(), 1);
    own[axis] = tensors[k].numel();
    grids.push_back(tensors[k].reshape(own).expand(shape));
  }
  return grids;
}

Tensor eye(std::int64_t rows, std::optional<std::int64_t> columns, DType dtype, Device device) {
  const std::int64_t width = columns.value_or(rows);
  require(rows >= 0 && width >= 0, "eye", "sizes ", rows, " and ", width, " must not be negative");
  const PauseTrace pause;  // For a trace the result is a constant.
  const Tensor y = zeros({rows, width}, dtype, device);
  ops::fill_into(make_view(y, {std::min(rows, width)}, {width + 1}, 0), 1);
  return y;
}

}  // namespace crisol
