// Reads the key of x[key].
#include <cstring>

#include "arguments.h"
#include "bindings.h"
#include "crisol/dtype_table.h"
#include "tensor/host.h"
#include "tensor/indexing.h"

namespace crisol::python {

void raise_key(const std::string& text) { raise("OutOfRangeError", "[index] " + text); }

void check_position(std::int64_t position, std::int64_t size, int axis) {
  if (position < -size || position >= size)
    raise_key("position " + std::to_string(position) + " is outside axis " + std::to_string(axis) + ", which has " +
              std::to_string(size) + " elements");
}

namespace {

/// A part of a key. The positions of a list or an array are still on the host, so the binding checks them without a
/// wait.
struct Entry {
  nb::object object;
  std::optional<HostElements> positions = {};
};

template <class T>
void check_positions(const HostElements& positions, std::int64_t size, int axis) {
  T position;
  for (std::size_t at = 0; at < positions.bytes.size(); at += sizeof position) {
    std::memcpy(&position, positions.bytes.data() + at, sizeof position);
    check_position(position, size, axis);
  }
}

void check_positions(const HostElements& positions, std::int64_t size, int axis) {
  if (!is_whole(positions.dtype)) return;
  with_host_type(positions.dtype, [&](auto element) {
    if constexpr (std::is_integral_v<decltype(element)>) check_positions<decltype(element)>(positions, size, axis);
  });
}

/// Reads entries from left to right.
class Reader {
 public:
  Reader(const Tensor& x, const std::vector<Entry>& entries) : x_(x), entries_(entries) {}

  Key read() {
    check_count();
    for (const Entry& entry : entries_) read_entry(entry);
    return std::move(key_);
  }

 private:
  static int axes_of(nb::handle entry) {
    if (entry.is_none() || entry.ptr() == Py_Ellipsis) return 0;
    if (!nb::isinstance<Tensor>(entry)) return 1;
    const Tensor& tensor = nb::cast<const Tensor&>(entry);
    return tensor.dtype() == DType::boolean ? tensor.dim() : 1;
  }

  void check_count() {
    int ellipses = 0;
    for (const Entry& entry : entries_) {
      key_.used_axes += axes_of(entry.object);
      ellipses += entry.object.ptr() == Py_Ellipsis ? 1 : 0;
    }
    if (ellipses > 1) raise_key("more than one Ellipsis");
    if (key_.used_axes > x_.dim())
      raise_key("entries for " + std::to_string(key_.used_axes) + " axes, but the tensor has rank " +
                std::to_string(x_.dim()));
  }

  void read_entry(const Entry& read) {
    const nb::handle entry = read.object;
    if (read.positions) check_positions(*read.positions, x_.shape()[axis_], axis_);
    if (entry.is_none()) {
      key_.entries.emplace_back(NewAxis);
    } else if (entry.ptr() == Py_Ellipsis) {
      key_.entries.emplace_back(Ellipsis);
      axis_ += x_.dim() - key_.used_axes;
    } else if (PySlice_Check(entry.ptr())) {
      read_slice(entry);
    } else if (nb::isinstance<Tensor>(entry)) {
      read_tensor(nb::cast<Tensor>(entry));
    } else {
      read_position(entry);
    }
  }

  static std::optional<std::int64_t> bound(nb::handle value) {
    if (value.is_none()) return std::nullopt;
    const nb::object number = nb::steal(PyNumber_Index(value.ptr()));
    if (!number.is_valid()) throw nb::python_error();
    // Bounds outside of the axis are moved to its ends. So a bound beyond 64 bits may become any large number.
    int overflow = 0;
    const long long whole = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    constexpr std::int64_t largest = std::int64_t{1} << 62;
    return overflow == 0 ? std::clamp<std::int64_t>(whole, -largest, largest) : overflow * largest;
  }

  void read_slice(nb::handle entry) {
    const std::int64_t step = bound(entry.attr("step")).value_or(1);
    if (step == 0) throw nb::value_error("[index] the step of a slice is 0");
    key_.entries.emplace_back(Slice(bound(entry.attr("start")), bound(entry.attr("stop")), step));
    ++axis_;
  }

  void read_position(nb::handle entry) {
    Scalar number = 0;
    if (PyIndex_Check(entry.ptr()) == 0 || !read_scalar(entry.ptr(), number) || number.dtype() == DType::u64)
      raise_key("an entry is a " + nb::cast<std::string>(nb::repr(entry.type())) +
                ", allowed are whole numbers, slices, Ellipsis, None, and tensors or lists of whole numbers or bool");
    check_position(number.as_int(), x_.shape()[axis_], axis_);
    key_.entries.emplace_back(number.as_int());
    ++axis_;
  }

  void add_tensor(const Tensor& tensor) {
    axis_ += tensor.dtype() == DType::boolean ? tensor.dim() : 1;
    key_.entries.emplace_back(key_.tensors.emplace_back(tensor));
  }

  void check_mask_axis(const Tensor& mask, int axis) {
    if (mask.shape()[axis] != x_.shape()[axis_ + axis])
      raise_key("a mask of shape " + to_string(mask.shape()) + " does not fit the axes from " + std::to_string(axis_) +
                " of shape " + to_string(x_.shape()));
  }

  /// By the Array API standard, a mask's axis may have size 0 instead of the size of x. Then nothing is selected.
  void read_empty_mask(const Tensor& mask) {
    for (int i = 0; i < mask.dim(); ++i)
      if (mask.shape()[i] != 0) check_mask_axis(mask, i);
    for (int i = 0; i < mask.dim(); ++i) add_tensor(empty({0}, DType::i64, x_.device()));
  }

  void read_tensor(const Tensor& tensor) {
    if (is_floating(tensor.dtype()))
      raise_key("a tensor of positions is " + name_in_python(tensor.dtype()) + ", allowed are whole numbers and bool");
    if (tensor.dtype() == DType::boolean && tensor.numel() == 0) return read_empty_mask(tensor);
    for (int i = 0; tensor.dtype() == DType::boolean && i < tensor.dim(); ++i) check_mask_axis(tensor, i);
    add_tensor(tensor.to(x_.device()));
  }

  const Tensor& x_;
  const std::vector<Entry>& entries_;
  Key key_;
  int axis_ = 0;  ///< The next axis of x.
};

/// Lists, ranges and arrays. NumPy's bool is not one of them: it has a buffer too, but is no whole number.
bool is_array(nb::handle entry) {
  if (PyList_Check(entry.ptr()) || PyRange_Check(entry.ptr())) return true;
  return !nb::isinstance<Tensor>(entry) && PyObject_CheckBuffer(entry.ptr()) != 0 &&
         (nb::hasattr(entry, "__len__") || PyIndex_Check(entry.ptr()) == 0);
}

/// Lists, ranges and arrays become tensors. Python's bool becomes a mask of rank 0.
Entry as_entry(const Tensor& x, nb::handle entry) {
  if (is_array(entry)) {
    HostElements elements = host_elements(entry);
    // An empty list or range has no numbers that determine its dtype.
    if (elements.bytes.empty() && PyObject_CheckBuffer(entry.ptr()) == 0) elements.dtype = DType::i64;
    Tensor tensor =
        unlocked([&] { return from_bytes(elements.bytes.data(), elements.shape, elements.dtype, x.device()); });
    return {nb::cast(std::move(tensor)), std::move(elements)};
  }
  if (PyBool_Check(entry.ptr())) return {nb::cast(full({}, entry.ptr() == Py_True, DType::boolean, x.device()))};
  return {nb::borrow(entry)};
}

/// Whether a list stands for a tuple, as in PyTorch: it holds lists, tensors, slices, Ellipsis or None.
bool stands_for_tuple(nb::handle key) {
  constexpr std::size_t most = 32;
  if (!PyList_Check(key.ptr()) || nb::len(key) >= most) return false;
  for (const nb::handle entry : nb::borrow<nb::list>(key))
    if (nb::isinstance<Tensor>(entry) || PySequence_Check(entry.ptr()) != 0 || PySlice_Check(entry.ptr()) ||
        entry.ptr() == Py_Ellipsis || entry.is_none())
      return true;
  return false;
}

bool is_scalar_mask(nb::handle entry) {
  if (!nb::isinstance<Tensor>(entry)) return false;
  const Tensor& tensor = nb::cast<const Tensor&>(entry);
  return tensor.dtype() == DType::boolean && tensor.dim() == 0;
}

/// A mask of rank 0 selects all of x or nothing, along a new first axis.
Key scalar_mask(const Tensor& x, const Tensor& mask) {
  Key key;
  key.new_front = true;
  key.entries.emplace_back(key.tensors.emplace_back(mask.reshape({1}).to(x.device())));
  return key;
}

}  // namespace

Key read_key(const Tensor& x, nb::handle key) {
  std::vector<Entry> entries;
  if (PyTuple_Check(key.ptr()) || stands_for_tuple(key))
    for (const nb::handle entry : nb::tuple(nb::borrow(key))) entries.push_back(as_entry(x, entry));
  else
    entries.push_back(as_entry(x, key));
  if (entries.size() == 1 && is_scalar_mask(entries[0].object))
    return scalar_mask(x, nb::cast<Tensor>(entries[0].object));
  for (const Entry& entry : entries)
    if (is_scalar_mask(entry.object)) raise_key("a mask of rank 0 stands beside other entries");
  return Reader(x, entries).read();
}

}  // namespace crisol::python
