// Functions that move elements: joining, cutting, turning, repeating.
#include <algorithm>

#include "arguments.h"
#include "bindings.h"
#include "tensor/indexing.h"

namespace crisol::python {

Shape broadcast_of(const Shape& a, const Shape& b) {
  Shape result = a.rank() >= b.rank() ? a : b;
  const Shape& other = a.rank() >= b.rank() ? b : a;
  for (int i = 1; i <= other.rank(); ++i) {
    std::int64_t& size = result[result.rank() - i];
    const std::int64_t with = other[other.rank() - i];
    if (size != with && size != 1 && with != 1)
      throw Error(ErrorCode::invalid_argument,
                  "[broadcast] shapes " + to_string(a) + " and " + to_string(b) + " do not broadcast");
    if (size == 1) size = with;
  }
  return result;
}

namespace {

using Tensors = std::vector<Tensor>;
using Axes = std::optional<Shape>;

/// The axes 0 … rank - 1.
Shape all_axes(int rank) {
  Shape axes;
  for (int axis = 0; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

/// The tensors, converted to their common dtype.
Tensors in_one_dtype(Tensors tensors) {
  if (tensors.empty()) return tensors;
  DType common = tensors[0].dtype();
  for (const Tensor& x : tensors) common = promote_types(common, x.dtype());
  for (Tensor& x : tensors) x = x.to(common);
  return tensors;
}

Tensor concat(Tensors tensors, std::optional<int> axis) {
  if (!axis)
    for (Tensor& x : tensors) x = x.flatten();
  return cat(in_one_dtype(std::move(tensors)), axis.value_or(0));
}

int wrapped(const char* op, int axis, int rank) {
  const int wrapped_axis = axis < 0 ? axis + rank : axis;
  if (wrapped_axis < 0 || wrapped_axis >= rank)
    throw OutOfRange(std::string("[") + op + "] axis " + std::to_string(axis) + " does not exist, there are " +
                     std::to_string(rank) + " axes");
  return wrapped_axis;
}

Tensors unstack(const Tensor& x, int axis) {
  const int at = wrapped("unstack", axis, x.dim());
  Tensors parts;
  if (grad_enabled() && x.requires_grad() && x.shape()[at] > 0) {
    for (const Tensor& part : split(x, 1, at)) parts.push_back(part.squeeze(at));  // One gradient for all parts.
    return parts;
  }
  for (std::int64_t i = 0; i < x.shape()[at]; ++i) parts.push_back(x.select(at, i));
  return parts;
}

Tensor squeeze(const Tensor& x, const Axes& axes) {
  Shape kept;
  std::vector<bool> gone(static_cast<std::size_t>(x.dim()), !axes);
  for (int i = 0; axes && i < axes->rank(); ++i) {
    const int axis = wrapped("squeeze", static_cast<int>((*axes)[i]), x.dim());
    if (x.shape()[axis] != 1)
      throw Error(ErrorCode::invalid_argument,
                  "[squeeze] axis " + std::to_string(axis) + " of shape " + to_string(x.shape()) + " has not size 1");
    if (gone[static_cast<std::size_t>(axis)])
      throw Error(ErrorCode::invalid_argument, "[squeeze] axis " + std::to_string(axis) + " is named twice");
    gone[static_cast<std::size_t>(axis)] = true;
  }
  Tensor y = x;
  for (int axis = x.dim() - 1; axis >= 0; --axis)
    if (gone[static_cast<std::size_t>(axis)] && x.shape()[axis] == 1) y = y.select(axis, 0);
  return y;
}

Tensor expand_dims(const Tensor& x, const Shape& axes) {
  const int rank = x.dim() + axes.rank();
  std::vector<int> places;
  for (const std::int64_t axis : axes) places.push_back(wrapped("expand_dims", static_cast<int>(axis), rank));
  std::sort(places.begin(), places.end());
  if (std::adjacent_find(places.begin(), places.end()) != places.end())
    throw Error(ErrorCode::invalid_argument, "[expand_dims] an axis is named twice");
  Tensor y = x;
  for (const int axis : places) y = y.unsqueeze(axis);
  return y;
}

Tensor moveaxis(const Tensor& x, const Shape& source, const Shape& destination) {
  const int rank = x.dim();
  if (source.rank() != destination.rank())
    throw Error(ErrorCode::invalid_argument, "[moveaxis] source and destination have different numbers of axes");
  std::vector<int> order(static_cast<std::size_t>(rank), -1);
  std::vector<bool> used(order.size(), false);
  for (int i = 0; i < source.rank(); ++i) {
    const int from = wrapped("moveaxis", static_cast<int>(source[i]), rank);
    const int to = wrapped("moveaxis", static_cast<int>(destination[i]), rank);
    if (used[static_cast<std::size_t>(from)] || order[static_cast<std::size_t>(to)] >= 0)
      throw Error(ErrorCode::invalid_argument, "[moveaxis] an axis is named twice");
    used[static_cast<std::size_t>(from)] = true;
    order[static_cast<std::size_t>(to)] = from;
  }
  Shape axes;
  int next = 0;
  for (int& axis : order) {
    while (axis < 0 && used[static_cast<std::size_t>(next)]) ++next;
    axes.push_back(axis < 0 ? next++ : axis);
  }
  return x.permute(axes);
}

Tensor flip_of(const Tensor& x, const Axes& axes) { return flip(x, axes.value_or(all_axes(x.dim()))); }

Tensor roll_of(const Tensor& x, const Shape& shift, const Axes& axes) {
  if (!axes || shift.rank() == axes->rank()) return roll(x, shift, axes.value_or(Shape()));
  if (shift.rank() != 1)
    throw Error(ErrorCode::invalid_argument,
                "[roll] " + std::to_string(shift.rank()) + " shifts for " + std::to_string(axes->rank()) + " axes");
  return roll(x, Shape::filled(axes->rank(), shift[0]), *axes);
}

Tensor repeat_each(const Tensor& x, const std::variant<std::int64_t, Tensor>& repeats, const std::optional<int>& axis) {
  if (const std::int64_t* count = std::get_if<std::int64_t>(&repeats)) return repeat_interleave(x, *count, axis);
  return repeat_interleave(x, std::get<Tensor>(repeats), axis);
}

Shape broadcast_shapes(const nb::args& shapes) {
  Shape result;
  for (const nb::handle shape : shapes) result = broadcast_of(result, nb::cast<Shape>(shape));
  return result;
}

Tensors broadcast_tensors(const Tensors& tensors) {
  Shape shape;
  for (const Tensor& x : tensors) shape = broadcast_of(shape, x.shape());
  Tensors results;
  for (const Tensor& x : tensors) results.push_back(x.expand(shape));
  return results;
}

Tensor diff_of(const Tensor& x, int axis, std::int64_t n, const std::optional<Tensor>& prepend,
               const std::optional<Tensor>& append) {
  const auto in_type = [&](const std::optional<Tensor>& part) { return part ? part->to(x.dtype()) : Tensor(); };
  return diff(x, n, axis, in_type(prepend), in_type(append));
}

void bind_joins(nb::module_& m) {
  m.def("diff", &diff_of, "x"_a, nb::kw_only(), "axis"_a = -1, "n"_a = 1, "prepend"_a = nb::none(),
        "append"_a = nb::none(), Unlocked(),
        "The differences x[i + 1] - x[i] along an axis, n times. `prepend` and `append` are first joined to x.");
  define_along(
      m, "concat", &concat, "arrays"_a, nb::kw_only(), "axis"_a = 0, Unlocked(),
      "Joins tensors one after another along an axis. axis=None joins them as lines. They are converted to one dtype.");
  define_along(m, "cat", &concat, "tensors"_a, "axis"_a = 0, Unlocked(), "concat(), with PyTorch's name.");
  define_along(
      m, "stack", [](Tensors tensors, int axis) { return stack(in_one_dtype(std::move(tensors)), axis); }, "arrays"_a,
      "axis"_a = 0, Unlocked(), "Joins tensors of one shape along a new axis.");
  m.def("broadcast_shapes", &broadcast_shapes,
        nb::sig("def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]"),
        "The shape to which all shapes broadcast.");
  m.def("_broadcast_tensors", &broadcast_tensors, Unlocked());
  m.def("_meshgrid", &meshgrid, Unlocked());
}

}  // namespace

void bind_arrange(nb::module_& m, TensorClass& tensor) {
  bind_joins(m);
  m.def("_unstack", &unstack, Unlocked());
  define_along(m, "squeeze", &squeeze, "x"_a, "axis"_a = nb::none(), Unlocked(),
               "A view without the given axes, which must have size 1. Without `axis`, all axes of size 1 go.");
  m.def("expand_dims", &expand_dims, "x"_a, "axis"_a = 0, Unlocked(), "A view with new axes of size 1.");
  m.def("moveaxis", &moveaxis, "x"_a, "source"_a, "destination"_a, Unlocked(), "A view with axes moved elsewhere.");
  m.def("permute_dims", &Tensor::permute, "x"_a, "axes"_a, Unlocked(), "A view whose axis i is axis axes[i] of x.");
  m.def("as_strided", &as_strided, "x"_a, "shape"_a, "strides"_a, "offset"_a = nb::none(), Unlocked(),
        "A view of x's memory with any sizes and strides, in elements. It begins where x begins, or `offset` elements "
        "into the memory. Several indices may mean one element. Nothing can be written to such a view.");
  m.def("broadcast_to", &Tensor::expand, "x"_a, "shape"_a, Unlocked(), "Repeats axes of size 1 without a copy.");
  define_along(m, "flip", &flip_of, "x"_a, "axis"_a = nb::none(), Unlocked(),
               "A copy with the elements along the axes in the opposite order. Without `axis`, along all axes.");
  define_along(m, "roll", &roll_of, "x"_a, "shift"_a, "axis"_a = nb::none(), Unlocked(),
               "Moves elements along axes. Elements that leave at one end enter at the other.");
  m.def("tile", &tile, "x"_a, "repetitions"_a, Unlocked(), "Repeats x along its last axes.");
  m.def(
      "repeat", &repeat_each, "x"_a, "repeats"_a, nb::kw_only(), "axis"_a = nb::none(), Unlocked(),
      "Repeats each element along an axis: `repeats` times, or repeats[i] times. Without `axis`, x counts as a line.");
  define_along(
      m, "split", [](const Tensor& x, std::int64_t size, int axis) { return split(x, size, axis); }, "x"_a, "size"_a,
      "axis"_a = 0, Unlocked(), "Views of `size` elements along an axis. The last view may be smaller.");
  define_along(
      m, "split",
      [](const Tensor& x, const std::vector<std::int64_t>& sizes, int axis) { return split(x, sizes, axis); }, "x"_a,
      "sizes"_a, "axis"_a = 0, Unlocked(), "Views of the given sizes along an axis.");
  define_along(m, "chunk", &chunk, "x"_a, "chunks"_a, "axis"_a = 0, Unlocked(),
               "At most `chunks` views of equal size.");
  define_along(tensor, "squeeze", &squeeze, "axis"_a = nb::none(), Unlocked(), "A view without axes of size 1.");
  define_along(tensor, "flip", &flip_of, "axis"_a = nb::none(), Unlocked(),
               "A copy with the opposite order along the axes.");
  define_along(tensor, "roll", &roll_of, "shift"_a, "axis"_a = nb::none(), Unlocked(), "Moves elements along axes.");
  define_along(tensor, "split", &Tensor::split, "size"_a, "axis"_a = 0, Unlocked(),
               "Views of `size` elements along an axis.");
  define_along(tensor, "chunk", &Tensor::chunk, "chunks"_a, "axis"_a = 0, Unlocked(),
               "At most `chunks` views of equal size.");
  tensor
      .def(
          "repeat",
          [](const Tensor& x, const nb::args& counts) {
            return unlocked([&, c = shape_of(counts)] { return x.repeat(c); });
          },
          nb::sig("def repeat(self, *counts: int | collections.abc.Sequence[int]) -> Tensor"),
          "Repeats the tensor counts[i] times along axis i.")
      .def("tile", &Tensor::tile, "counts"_a, Unlocked(), "Repeats the tensor along its last axes.");
}

}  // namespace crisol::python
