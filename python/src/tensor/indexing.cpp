// x[key] and x[key] = value with PyTorch's keys: whole numbers, slices, Ellipsis, None, and tensors, lists or arrays of
// whole numbers or bool.
#include "tensor/indexing.h"

#include <utility>

#include "arguments.h"
#include "bindings.h"
#include "tensor/host.h"

namespace crisol::python {

namespace {

/// Calls x[{entries…}]. The call needs the number of entries at compile time.
template <std::size_t... I>
Tensor part_of(const Tensor& x, const std::vector<TensorIndex>& entries, std::index_sequence<I...>) {
  return x[{entries[I]...}];
}

template <std::size_t count = 1>
Tensor part_of(const Tensor& x, const std::vector<TensorIndex>& entries) {
  if (entries.size() == count) return part_of(x, entries, std::make_index_sequence<count>());
  if constexpr (count < 2 * Shape::max_rank)
    return part_of<count + 1>(x, entries);
  else
    throw Error(ErrorCode::invalid_argument, "[index] too many entries between the brackets");
}

Tensor get(const Tensor& x, const Key& key) { return key.entries.empty() ? x : part_of(key.source(x), key.entries); }

/// Removes axes of size 1 at the front of a value that has more axes than the target: x[0] = [7].
Tensor without_front_axes(Tensor value, int rank) {
  while (value.dim() > rank && value.shape()[0] == 1) value = value.select(0, 0);
  return value;
}

/// The number of axes that a tensor in a key indexes.
int axes_of(const Tensor& entry) { return entry.dtype() == DType::boolean ? entry.dim() : 1; }

/// The number of axes that an entry without a tensor has in the view of a Place. An Ellipsis has `others`.
int axes_in_view(const TensorIndex& entry, int others) {
  if (entry.kind() == TensorIndex::Kind::ellipsis) return others;
  return entry.kind() == TensorIndex::Kind::position ? 0 : 1;
}

/// The elements that a key with tensors selects: index_get(view, picks).
struct Place {
  Tensor view;
  std::vector<Tensor> picks;
  int rank;  ///< The rank of the selected elements.
};

/// The place of a key with tensors. Nothing if a slice goes backwards, because no view can show its elements.
std::optional<Place> place_of(const Tensor& x, const Key& key) {
  std::vector<TensorIndex> entries;
  std::vector<Tensor> picks;
  int picked_axes = 0, picked_rank = 0;
  for (const TensorIndex& entry : key.entries) {
    if (entry.kind() == TensorIndex::Kind::slice && entry.slice().step < 0) return std::nullopt;
    if (entry.kind() != TensorIndex::Kind::positions) {
      picks.resize(picks.size() + static_cast<std::size_t>(axes_in_view(entry, x.dim() - key.used_axes)));
      entries.push_back(entry);
      continue;
    }
    const Tensor& tensor = *entry.positions();
    picks.push_back(tensor);
    entries.insert(entries.end(), static_cast<std::size_t>(axes_of(tensor)), Slice());
    picked_axes += axes_of(tensor);
    picked_rank = std::max(picked_rank, tensor.dtype() == DType::boolean ? 1 : tensor.dim());
  }
  const Tensor view = part_of(x, entries);
  return Place{view, std::move(picks), view.dim() - picked_axes + picked_rank};
}

void set(const Tensor& x, const Key& key, const Operand& value) {
  std::optional<Place> place;
  if (!key.tensors.empty()) place = place_of(key.source(x), key);
  Tensor part = place ? place->view : get(x, key);
  Tensor tensor;  // Keeps the tensor, because an Operand does not.
  if (value.tensor() != nullptr) tensor = without_front_axes(*value.tensor(), place ? place->rank : part.dim());
  const Operand fitting = value.tensor() != nullptr ? Operand(tensor) : value;
  if (place)
    part.index_put_(place->picks, fitting);  // Not x[key] = …, because that would read the elements first.
  else
    std::move(part) = fitting;
}

/// A fast path for x[0] and x[-1], the usual steps of a loop, without a Key.
bool plain_position(const Tensor& x, PyObject* key, std::int64_t& position) {
  if (!PyLong_CheckExact(key) || x.dim() == 0) return false;
  position = PyLong_AsLongLong(key);
  if (position == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  check_position(position, x.shape()[0], 0);
  return true;
}

/// Reads the key. Waits for a mask, because the host must know how many elements the mask selects.
Key read_key_and_wait(const Tensor& x, nb::handle key) {
  Key read = read_key(x, key);
  for (const Tensor& tensor : read.tensors)
    if (tensor.dtype() == DType::boolean) wait_ahead(x.device());
  return read;
}

Tensor get_item(const Tensor& x, nb::handle key) {
  std::int64_t position = 0;
  if (plain_position(x, key.ptr(), position)) return unlocked([&] { return x[position]; });
  const Key read = read_key_and_wait(x, key);
  return unlocked([&] { return get(x, read); });
}

void set_item(const Tensor& x, nb::handle key, nb::handle value) {
  const Key read = read_key_and_wait(x, key);
  Scalar number = 0;
  if (!nb::isinstance<Tensor>(value) && read_scalar(value.ptr(), number)) {
    unlocked([&] { set(x, read, number); });
    return;
  }
  const Tensor source = nb::isinstance<Tensor>(value) ? nb::cast<Tensor>(value) : from_host(value, x.device());
  unlocked([&] { set(x, read, source); });
}

std::int64_t length(const Tensor& x) {
  if (x.dim() == 0) throw nb::type_error("a tensor of rank 0 has no length");
  return x.shape()[0];
}

bool contains(const Tensor& x, const Operand& value) {
  const Tensor found = unlocked([&] { return any(eq(x, value)); });
  unsigned char byte = 0;
  read_elements(found, &byte);
  return byte != 0;
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
      .def("__contains__", &contains);
}

}  // namespace crisol::python
