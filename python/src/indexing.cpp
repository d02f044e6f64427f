// x[key] and x[key] = value with NumPy's keys: whole numbers, slices, Ellipsis, None, and tensors, lists or arrays of
// whole numbers or bool.
#include "indexing.h"

#include <utility>

#include "arguments.h"
#include "bindings.h"

namespace crisol::python {

namespace {

/// Calls x[{entries…}], which needs the number of entries at compile time.
template <std::size_t... I>
Tensor part_of(const Tensor& x, const std::vector<TensorIndex>& entries, std::index_sequence<I...>) {
  return x[{entries[I]...}];
}

template <std::size_t count = 0>
Tensor part_of(const Tensor& x, const std::vector<TensorIndex>& entries) {
  if (entries.size() == count) return part_of(x, entries, std::make_index_sequence<count>());
  if constexpr (count < 2 * Shape::max_rank)
    return part_of<count + 1>(x, entries);
  else
    raise_key("too many entries between the brackets");
}

/// The part of x that the entries without tensors select. Those with tensors are whole axes here. It is a view, or a
/// copy through which the library writes to x.
Tensor basic_part(const Tensor& x, const Key& key) {
  if (key.basic.empty()) return x;
  return part_of(x, key.basic);
}

/// y with the axes of the tensors in front, for gather_nd and scatter_nd.
struct Front {
  Shape order;    ///< permute() of the part by this gives the axes of the tensors first.
  Shape inverse;  ///< permute() by this goes back.
};

Front front_of(const Key& key, int rank) {
  Front front;
  for (const Positions& positions : key.positions) front.order.push_back(positions.axis);
  for (int axis = 0; axis < rank; ++axis) {
    bool used = false;
    for (const Positions& positions : key.positions) used = used || positions.axis == axis;
    if (!used) front.order.push_back(axis);
  }
  front.inverse = Shape::filled(rank, 0);
  for (int i = 0; i < rank; ++i) front.inverse[static_cast<int>(front.order[i])] = i;
  return front;
}

/// All tensors of positions as one: (I…, k).
Tensor tuples_of(const Key& key) {
  std::vector<Tensor> columns;
  Shape shape;
  for (const Positions& positions : key.positions) shape = broadcast_of(shape, positions.index.shape());
  for (const Positions& positions : key.positions) columns.push_back(positions.index.to(DType::i64).expand(shape));
  return stack(columns, -1);
}

/// Where the axes I… lie in the result: at the axis of the first tensor, or in front if other axes lie between tensors.
int place_of(const Key& key) { return key.together ? key.positions.front().axis : 0; }

/// Moves the first `count` axes to `place`, or back.
Tensor with_axes_at(const Tensor& x, int count, int place, bool back) {
  if (place == 0 || count == 0) return x;
  Shape order;
  for (int axis = 0; axis < x.dim(); ++axis) {
    // The order of x's axes in the result where the first axes go to `place`.
    const int from = axis < place ? axis + count : axis < place + count ? axis - place : axis;
    order.push_back(from);
  }
  if (!back) return x.permute(order);
  Shape inverse = order;
  for (int i = 0; i < order.rank(); ++i) inverse[static_cast<int>(order[i])] = i;
  return x.permute(inverse);
}

Tensor get(const Tensor& x, const Key& key) {
  if (key.whole_mask) return masked_select(x, *key.whole_mask);
  const Tensor part = basic_part(key.source(x), key);
  if (key.positions.empty()) return part;
  const Tensor tuples = tuples_of(key);
  const Tensor found = gather_nd(part.permute(front_of(key, part.dim()).order), tuples);
  return with_axes_at(found, tuples.dim() - 1, place_of(key), false);
}

/// The value without axes of size 1 in front that the target does not have: x[0] = [7].
Tensor without_front_axes(Tensor value, int rank) {
  while (value.dim() > rank && value.shape()[0] == 1) value = value.select(0, 0);
  return value;
}

/// The value in the shape of the axes (I…, R…).
Tensor value_in_front(const Tensor& part, const Tensor& tuples, const Key& key, const Tensor& value) {
  const int count = tuples.dim() - 1;
  const Front front = front_of(key, part.dim());
  Shape shape;
  for (int i = 0; i < count; ++i) shape.push_back(tuples.shape()[i]);
  for (int i = static_cast<int>(key.positions.size()); i < part.dim(); ++i)
    shape.push_back(part.shape()[static_cast<int>(front.order[i])]);
  // The value broadcasts to the shape of x[key], in which I… lie elsewhere.
  Shape outside = Shape::filled(shape.rank(), 0);
  const int place = place_of(key);
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int from = axis < place ? axis + count : axis < place + count ? axis - place : axis;
    outside[axis] = shape[from];
  }
  const Tensor source = without_front_axes(value, outside.rank());
  return with_axes_at(source.expand(outside), count, place, true);
}

void set_at_positions(const Tensor& x, const Key& key, const Operand& value) {
  Tensor part = basic_part(x, key);
  const Tensor source =
      (value.tensor() != nullptr ? *value.tensor() : full({}, value.number(), part.dtype(), part.device()))
          .to(part.device())
          .to(part.dtype());
  const Tensor tuples = tuples_of(key);
  const Front front = front_of(key, part.dim());
  const Tensor written = scatter_nd(part.permute(front.order), tuples, value_in_front(part, tuples, key, source));
  std::move(part) = written.permute(front.inverse);
}

void set(const Tensor& x, const Key& key, const Operand& value) {
  if (key.whole_mask && (value.tensor() == nullptr || value.tensor()->numel() == 1)) {
    Tensor target = x;
    const Tensor one = value.tensor() != nullptr ? value.tensor()->reshape({}) : Tensor();
    target.copy_from(masked_fill(x, *key.whole_mask, one.defined() ? Operand(one.to(x.dtype())) : value));
    return;
  }
  const Key full_key = key.whole_mask ? key.with_positions(x) : key;
  if (full_key.positions.empty()) {
    Tensor part = basic_part(full_key.source(x), full_key);
    if (value.tensor() != nullptr)
      std::move(part) = without_front_axes(*value.tensor(), part.dim());
    else
      std::move(part) = value;
    return;
  }
  set_at_positions(full_key.source(x), full_key, value);
}

/// x[0], x[-1]: the usual steps of a loop, without a Key.
bool plain_position(const Tensor& x, PyObject* key, std::int64_t& position) {
  if (!PyLong_CheckExact(key) || x.dim() == 0) return false;
  position = PyLong_AsLongLong(key);
  if (position == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  check_position(position, x.shape()[0], 0);
  return true;
}

Tensor get_item(const Tensor& x, nb::handle key) {
  std::int64_t position = 0;
  if (plain_position(x, key.ptr(), position)) return unlocked([&] { return x[position]; });
  const Key read = read_key(x, key);
  return unlocked([&] { return get(x, read); });
}

void set_item(const Tensor& x, nb::handle key, nb::handle value) {
  const Key read = read_key(x, key);
  Scalar number = 0;
  if (!nb::isinstance<Tensor>(value) && read_scalar(value.ptr(), number)) {
    unlocked([&] { set(x, read, number); });
    return;
  }
  const nb::object source =
      nb::isinstance<Tensor>(value)
          ? nb::borrow(value)
          : nb::module_::import_("crisol._crisol").attr("asarray")(value, "device"_a = x.device());
  unlocked([&, tensor = nb::cast<Tensor>(source)] { set(x, read, tensor); });
}

std::int64_t length(const Tensor& x) {
  if (x.dim() == 0) throw nb::type_error("a tensor of rank 0 has no length");
  return x.shape()[0];
}

nb::object iterate(const Tensor& x) {
  nb::list parts;
  for (std::int64_t i = 0; i < length(x); ++i) parts.append(x[i]);
  return nb::iter(parts);
}

}  // namespace

void bind_indexing(TensorClass& tensor) {
  tensor.def("__getitem__", &get_item, "key"_a.none())
      .def("__setitem__", &set_item, "key"_a.none(), "value"_a)
      .def("__len__", &length)
      .def("__iter__", &iterate, nb::sig("def __iter__(self) -> collections.abc.Iterator[Tensor]"))
      .def(
          "__contains__", [](const Tensor& x, const Operand& value) { return any(eq(x, value)).item<bool>(); },
          Unlocked());
}

}  // namespace crisol::python
