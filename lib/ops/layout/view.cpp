#include "crisol/ops/view.h"

#include <optional>

#include "base/text.h"
#include "crisol/ops/copy.h"
#include "ops/check.h"
#include "tensor/impl.h"

namespace crisol::ops {

namespace {

void require_defined(const char* op, const Tensor& x) { require(x.defined(), op, "the tensor is undefined"); }

// The wanted shape, with the size -1 replaced by the computed size.
Shape full_shape(const Tensor& x, const Shape& wanted) {
  Shape shape = wanted;
  int open = -1;
  for (int i = 0; i < shape.rank(); ++i) {
    require(shape[i] >= -1, "reshape", "size ", shape[i], " in shape ", wanted);
    require(shape[i] != -1 || open == -1, "reshape", "more than one -1 in shape ", wanted);
    if (shape[i] == -1) open = i;
  }
  if (open >= 0) shape[open] = 1;
  checked_bytes("reshape", shape, x.dtype());  // After this check no product of sizes is above 2^62.
  if (open >= 0) {
    const std::int64_t known = shape.numel();
    require(known != 0 && x.numel() % known == 0, "reshape", "shape ", wanted, " does not divide the ", x.numel(),
            " elements of ", x.shape());
    shape[open] = x.numel() / known;
  }
  require(shape.numel() == x.numel(), "reshape", "shape ", wanted, " has ", shape.numel(), " elements, ", x.shape(),
          " has ", x.numel());
  return shape;
}

// Computes strides that show x's memory in `shape`, if such strides exist. A run is a group of neighbouring axes whose
// elements are equally spaced in memory. A run can be split into new axes. A new axis must not cross from one run into
// the next.
std::optional<Shape> strides_for(const Tensor& x, const Shape& shape) {
  if (x.numel() == 0) return contiguous_strides(shape);
  Shape strides = Shape::filled(shape.rank(), 0);
  int to = shape.rank() - 1;
  std::int64_t run = 1;   // The number of elements in the current run of x's axes.
  std::int64_t used = 1;  // The number of elements in the new axes of this run.
  std::int64_t step = x.dim() > 0 ? x.strides().back() : 1;
  for (int from = x.dim() - 1; from >= 0; --from) {
    run *= x.shape()[from];
    const bool ends = from == 0 || (x.shape()[from - 1] != 1 && x.strides()[from - 1] != run * step);
    if (!ends) continue;
    while (to >= 0 && (used < run || shape[to] == 1)) {
      strides[to] = used * step;
      used *= shape[to--];
    }
    if (used != run) return std::nullopt;
    if (from > 0) {
      step = x.strides()[from - 1];
      run = used = 1;
    }
  }
  return strides;
}

// A view of the memory of x that begins at element `first` of the dtype.
Tensor strided_view(const char* op, const Tensor& x, DType dtype, const Shape& shape, const Shape& strides,
                    std::int64_t first) {
  require(strides.rank() == shape.rank(), op, strides.rank(), " strides ", strides, " for shape ", shape);
  checked_bytes(op, shape, dtype);
  const auto elements = static_cast<std::int64_t>(x.impl()->storage->bytes / size_of(dtype));
  require(first >= 0 && first <= elements, op, "offset ", first, " in a memory of ", elements, " elements");
  std::int64_t room = shape.numel() == 0 ? elements : elements - first - 1;  // Elements behind the first one.
  for (int i = 0; i < shape.rank(); ++i) {
    require(strides[i] >= 0, op, "stride ", strides[i], " in ", strides, " is negative");
    if (shape.numel() == 0 || shape[i] == 1) continue;
    require(strides[i] <= room / (shape[i] - 1), op, "shape ", shape, ", strides ", strides, " and offset ", first,
            " leave the memory, which has ", elements, " elements");
    room -= strides[i] * (shape[i] - 1);
  }
  require(room >= 0, op, "the view begins behind the memory, which has ", elements, " elements");
  Tensor view = make_view(x, shape, strides, first);
  view.impl()->dtype = dtype;
  return view;
}

}  // namespace

Tensor reshape(const Tensor& x, const Shape& wanted) {
  require_defined("reshape", x);
  const Shape shape = full_shape(x, wanted);
  if (const std::optional<Shape> strides = strides_for(x, shape)) return make_view(x, shape, *strides, x.offset());
  return make_view(clone(x), shape, contiguous_strides(shape), 0);
}

Tensor as_strided(const Tensor& x, const Shape& shape, const Shape& strides, std::optional<std::int64_t> offset) {
  require_defined("as_strided", x);
  return strided_view("as_strided", x, x.dtype(), shape, strides, offset.value_or(x.offset()));
}

Tensor reinterpret(const Tensor& x, DType dtype, const Shape& shape, const Shape& strides, std::int64_t offset) {
  require_defined("reinterpret", x);
  return strided_view("reinterpret", x, dtype, shape, strides, offset);
}

Tensor flatten(const Tensor& x, int first, int last) {
  require_defined("flatten", x);
  if (x.dim() == 0) return reshape(x, {1});
  const int begin = normalized_axis("flatten", first, x.dim()), end = normalized_axis("flatten", last, x.dim());
  require(begin <= end, "flatten", "the first axis, ", first, ", comes after the last, ", last, ", in shape ",
          x.shape());
  Shape shape;
  for (int i = 0; i < x.dim(); ++i) {
    if (i <= begin || i > end)
      shape.push_back(x.shape()[i]);
    else
      shape[begin] *= x.shape()[i];
  }
  return reshape(x, shape);
}

Tensor permute(const Tensor& x, const Shape& axes) {
  require_defined("permute", x);
  require(axes.rank() == x.dim(), "permute", axes.rank(), " axes ", axes, " for a tensor of shape ", x.shape());
  Shape shape, strides;
  unsigned seen = 0;
  for (const std::int64_t wanted : axes) {
    const int axis = normalized_axis("permute", wanted, x.dim());
    require((seen >> axis & 1u) == 0, "permute", "axis ", axis, " is named twice in ", axes);
    seen |= 1u << axis;
    shape.push_back(x.shape()[axis]);
    strides.push_back(x.strides()[axis]);
  }
  return make_view(x, shape, strides, x.offset());
}

Tensor transpose(const Tensor& x, int axis_a, int axis_b) {
  require_defined("transpose", x);
  const int a = axis_or_scalar("transpose", axis_a, x.dim()), b = axis_or_scalar("transpose", axis_b, x.dim());
  Shape shape = x.shape(), strides = x.strides();
  if (a != b) {
    std::swap(shape[a], shape[b]);
    std::swap(strides[a], strides[b]);
  }
  return make_view(x, shape, strides, x.offset());
}

Tensor narrow(const Tensor& x, int axis, std::int64_t start, std::int64_t length) {
  require_defined("narrow", x);
  const int a = normalized_axis("narrow", axis, x.dim());
  const std::int64_t size = x.shape()[a];
  require(start >= 0 && length >= 0 && start <= size && length <= size - start, "narrow", "start ", start, ", length ",
          length, " leave axis ", a, " of shape ", x.shape());
  Shape shape = x.shape();
  shape[a] = length;
  return make_view(x, shape, x.strides(), x.offset() + start * x.strides()[a]);
}

Tensor select(const Tensor& x, int axis, std::int64_t index) {
  require_defined("select", x);
  const int a = normalized_axis("select", axis, x.dim());
  const std::int64_t size = x.shape()[a];
  require_in_range(index >= -size && index < size, "select", "index ", index, " is out of range for axis ", a,
                   " of shape ", x.shape());
  Shape shape = x.shape(), strides = x.strides();
  shape.erase(a);
  strides.erase(a);
  return make_view(x, shape, strides, x.offset() + (index < 0 ? index + size : index) * x.strides()[a]);
}

Tensor expand(const Tensor& x, const Shape& wanted) {
  require_defined("expand", x);
  const int ahead = wanted.rank() - x.dim();
  require(ahead >= 0, "expand", "shape ", wanted, " has fewer axes than ", x.shape());
  Shape shape = wanted, strides = Shape::filled(wanted.rank(), 0);
  for (int i = 0; i < wanted.rank(); ++i) {
    const bool is_new = i < ahead;
    const std::int64_t size = is_new ? 1 : x.shape()[i - ahead];
    if (wanted[i] == -1 && !is_new) shape[i] = size;
    require(shape[i] >= 0 && (shape[i] == size || size == 1), "expand", "size ", size, " of axis ", i - ahead,
            " of shape ", x.shape(), " cannot become ", wanted[i], " in ", wanted);
    if (!is_new && shape[i] == size) strides[i] = x.strides()[i - ahead];
  }
  checked_bytes("expand", shape, x.dtype());
  return make_view(x, shape, strides, x.offset());
}

Tensor squeeze(const Tensor& x, int axis) {
  require_defined("squeeze", x);
  const int a = axis_or_scalar("squeeze", axis, x.dim());
  Shape shape = x.shape(), strides = x.strides();
  if (x.dim() > 0 && shape[a] == 1) {
    shape.erase(a);
    strides.erase(a);
  }
  return make_view(x, shape, strides, x.offset());
}

Tensor unsqueeze(const Tensor& x, int axis) {
  require_defined("unsqueeze", x);
  const int a = normalized_axis("unsqueeze", axis, x.dim() + 1);
  Shape shape = x.shape(), strides = x.strides();
  strides.insert(a, a < x.dim() ? x.shape()[a] * x.strides()[a] : 1);
  shape.insert(a, 1);
  return make_view(x, shape, strides, x.offset());
}

}  // namespace crisol::ops
