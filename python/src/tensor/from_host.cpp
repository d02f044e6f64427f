// asarray(): tensors from numbers, nested sequences, and objects with a buffer.
#include <cmath>
#include <cstring>
#include <limits>

#include "arguments.h"
#include "bindings.h"
#include "crisol/dtype_table.h"
#include "tensor/host.h"

namespace crisol::python {

namespace {

/// The numbers of nested sequences, flat.
struct Flat {
  std::vector<Scalar> numbers;
  Shape shape;
  bool has_whole = false, has_floating = false;

  DType dtype() const {
    if (has_floating || numbers.empty()) return default_dtype();
    return has_whole ? DType::i64 : DType::boolean;
  }
};

void append(Flat& flat, const Scalar& number) {
  flat.has_whole |= is_whole(number.dtype());
  flat.has_floating |= is_floating(number.dtype());
  flat.numbers.push_back(number);
}

[[noreturn]] void refuse(nb::handle object) {
  const std::string text = nb::cast<std::string>(nb::repr(object.type()));
  if (PyLong_Check(object.ptr()))
    PyErr_SetString(PyExc_OverflowError, "[asarray] a whole number does not fit in 64 bits");
  else
    PyErr_SetString(PyExc_TypeError, ("[asarray] an element is a " + text +
                                      ", allowed are numbers, tensors, and sequences of them, all of one length")
                                         .c_str());
  throw nb::python_error();
}

// Reads one element or sequence at a depth. The first sequence at each depth determines the size there.
void flatten(Flat& flat, nb::handle object, int depth, int& rank) {
  nb::object held;
  if (nb::isinstance<Tensor>(object)) held = object.attr("tolist")();
  const nb::handle source = held.is_valid() ? nb::handle(held) : object;
  Scalar number = 0;
  if (read_scalar(source.ptr(), number)) {
    if (rank < 0) rank = depth;
    if (depth != rank) throw nb::value_error("[asarray] the nested sequences have different depths");
    append(flat, number);
    return;
  }
  if (!nb::isinstance<nb::sequence>(source) || PyUnicode_Check(source.ptr())) refuse(source);
  if (depth >= Shape::max_rank) throw nb::value_error("[asarray] sequences are nested more than 25 deep");
  const Py_ssize_t size = PySequence_Size(source.ptr());
  if (depth == rank) throw nb::value_error("[asarray] the nested sequences have different depths");
  if (depth == flat.shape.rank()) flat.shape.push_back(size);
  if (flat.shape[depth] != size) throw nb::value_error("[asarray] sequences of one depth have different lengths");
  if (size == 0 && rank < 0) rank = depth + 1;
  for (Py_ssize_t i = 0; i < size; ++i) flatten(flat, nb::steal(PySequence_GetItem(source.ptr(), i)), depth + 1, rank);
}

void check_range(const Scalar& number, DType dtype) {
  if (!is_whole(number.dtype()) || !is_whole(dtype)) return;
  const std::int64_t value = number.as_int();
  const bool is_natural = number.dtype() == DType::u64;
  const bool fits = with_host_type(dtype, [&](auto element) {
    using T = decltype(element);
    if constexpr (std::is_same_v<T, std::uint64_t>)
      return is_natural || value >= 0;
    else if constexpr (std::is_integral_v<T>)
      return !is_natural && value == static_cast<T>(value);
    else
      return true;
  });
  if (fits) return;
  const std::string text = is_natural ? std::to_string(static_cast<std::uint64_t>(value)) : std::to_string(value);
  PyErr_SetString(PyExc_OverflowError, ("[asarray] " + text + " does not fit in " + name_in_python(dtype)).c_str());
  throw nb::python_error();
}

HostElements elements_of_sequence(nb::handle object, const std::optional<DType>& wanted) {
  Flat flat;
  int rank = -1;
  flatten(flat, object, 0, rank);
  const DType dtype = wanted.value_or(flat.dtype());
  std::vector<unsigned char> bytes(flat.numbers.size() * size_of(dtype));
  unsigned char* to = bytes.data();
  for (const Scalar& number : flat.numbers) {
    check_range(number, dtype);
    to += detail::encode(number, dtype, to);
  }
  return {std::move(bytes), flat.shape, dtype};
}

Tensor on_device(const HostElements& elements, Device device) {
  return unlocked([&] { return from_bytes(elements.bytes.data(), elements.shape, elements.dtype, device); });
}

/// A Py_buffer, which is released at the end.
class Buffer {
 public:
  explicit Buffer(nb::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_RECORDS_RO) != 0) throw nb::python_error();
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { PyBuffer_Release(&view_); }

  const Py_buffer& view() const { return view_; }

 private:
  Py_buffer view_{};
};

using Read = Scalar (*)(const char*);

template <class T>
Scalar read_as(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

Scalar read_half(const char* at) {
  Half half;
  std::memcpy(&half.bits, at, sizeof half.bits);
  return static_cast<float>(half);
}

/// An element type of buffers: how to read an element, and the dtype that holds all its values, or most of them.
struct Format {
  char code;
  Read read;
  DType dtype;
};

template <class T>
constexpr Format format_of_numbers(char code) {
  return {code, &read_as<T>, nearest_dtype<T>()};
}
constexpr Format formats[]{
    format_of_numbers<bool>('?'),
    format_of_numbers<signed char>('b'),
    format_of_numbers<unsigned char>('B'),
    format_of_numbers<short>('h'),
    format_of_numbers<unsigned short>('H'),
    format_of_numbers<int>('i'),
    format_of_numbers<unsigned>('I'),
    format_of_numbers<long>('l'),
    format_of_numbers<unsigned long>('L'),
    format_of_numbers<long long>('q'),
    format_of_numbers<unsigned long long>('Q'),
    {'e', &read_half, DType::f16},
    format_of_numbers<float>('f'),
    format_of_numbers<double>('d'),
};

const Format& format_of(const Py_buffer& view) {
  const char* text = view.format == nullptr ? "B" : view.format;
  if (*text == '@' || *text == '=' || *text == '<') ++text;
  for (const Format& format : formats)
    if (format.code == text[0] && text[1] == '\0') return format;
  PyErr_SetString(PyExc_TypeError, (std::string("[asarray] there is no dtype for elements of the format '") +
                                    (view.format == nullptr ? "" : view.format) + "'")
                                       .c_str());
  throw nb::python_error();
}

void encode_all(const Py_buffer& view, const char* at, int axis, const Format& format, DType dtype,
                unsigned char*& to) {
  if (axis == view.ndim) {
    to += detail::encode(format.read(at), dtype, to);
    return;
  }
  for (Py_ssize_t i = 0; i < view.shape[axis]; ++i)
    encode_all(view, at + i * view.strides[axis], axis + 1, format, dtype, to);
}

/// A buffer with elements that a tensor can have.
class Elements {
 public:
  Elements(nb::handle object, const std::optional<DType>& wanted)
      : buffer_(object), format_(format_of(view())), dtype_(wanted.value_or(format_.dtype)) {
    if (view().ndim > Shape::max_rank) throw nb::value_error("[asarray] the array has more than 25 axes");
    for (int i = 0; i < view().ndim; ++i) shape_.push_back(view().shape[i]);
  }

  HostElements converted() const {
    std::vector<unsigned char> bytes(static_cast<std::size_t>(shape_.numel()) * size_of(dtype_));
    unsigned char* to = bytes.data();
    if (!is_converted())
      encode_all(view(), static_cast<const char*>(view().buf), 0, format_, dtype_, to);
    else if (!bytes.empty())
      std::memcpy(to, view().buf, bytes.size());
    return {std::move(bytes), shape_, dtype_};
  }

  Tensor on_device(Device device) const {
    const nb::gil_scoped_release free;
    if (is_converted()) return from_bytes(view().buf, shape_, dtype_, device);
    return from_bytes(converted().bytes.data(), shape_, dtype_, device);
  }

 private:
  const Py_buffer& view() const { return buffer_.view(); }
  /// Whether the buffer already has the tensor's element type and layout, so that its bytes can be copied.
  bool is_converted() const {
    return dtype_ == format_.dtype && static_cast<std::size_t>(view().itemsize) == size_of(dtype_) &&
           PyBuffer_IsContiguous(&view(), 'C') != 0;
  }

  Buffer buffer_;
  const Format& format_;
  DType dtype_;
  Shape shape_;
};

/// The object whose buffer has the elements. Invalid for numbers and sequences.
nb::object source_of_buffer(nb::handle object) {
  if (PyObject_CheckBuffer(object.ptr()) != 0) return nb::borrow(object);
  if (!nb::hasattr(object, "__len__") || PyList_Check(object.ptr()) || PyTuple_Check(object.ptr())) return {};
  return nb::hasattr(object, "__array__") ? object.attr("__array__")() : nb::object();
}

Tensor to_device(nb::handle object, const std::optional<DType>& dtype, Device device) {
  const nb::object source = source_of_buffer(object);
  if (source.is_valid()) return Elements(source, dtype).on_device(device);
  return on_device(elements_of_sequence(object, dtype), device);
}

Tensor from_tensor(const Tensor& x, const std::optional<DType>& dtype, const std::optional<Device>& device,
                   const std::optional<bool>& copy) {
  Tensor y = device ? x.to(*device) : x;
  if (dtype) y = y.to(*dtype);
  const bool copied = y.impl() != x.impl();
  if (copied && copy == false) throw nb::value_error("[asarray] this conversion needs a copy, but copy=False");
  return copy == true && !copied ? x.clone() : y;
}

/// A tensor over the memory of another library's array.
Tensor without_copy(nb::handle object, const std::optional<DType>& dtype, const std::optional<Device>& device) {
  if (!nb::hasattr(object, "__dlpack__"))
    throw nb::value_error("[asarray] copy=False needs a tensor, or an array that has __dlpack__");
  try {
    const nb::object from_dlpack = nb::module_::import_("crisol._crisol").attr("from_dlpack");
    const Tensor x = nb::cast<Tensor>(from_dlpack(object, "device"_a = device, "copy"_a = false));
    if (!dtype || *dtype == x.dtype()) return x;
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_BufferError)) throw;
    nb::raise_from(error, PyExc_ValueError, "[asarray] a copy is needed, but copy=False");
  }
  throw nb::value_error("[asarray] another dtype needs a copy, but copy=False");
}

Tensor asarray(nb::handle object, const std::optional<DType>& dtype, const std::optional<Device>& device,
               const std::optional<bool>& copy) {
  if (nb::isinstance<Tensor>(object))
    return unlocked([&, x = nb::cast<Tensor>(object)] { return from_tensor(x, dtype, device, copy); });
  if (copy == false) return without_copy(object, dtype, device);
  return to_device(object, dtype, device ? *device : Device());
}

}  // namespace

HostElements host_elements(nb::handle object, const std::optional<DType>& wanted) {
  const nb::object source = source_of_buffer(object);
  return source.is_valid() ? Elements(source, wanted).converted() : elements_of_sequence(object, wanted);
}

Tensor from_host(nb::handle object, Device device) { return to_device(object, std::nullopt, device); }

void bind_from_host(nb::module_& m) {
  const char* text =
      "A tensor of the elements of `obj`: a tensor, a number, nested sequences, or an object with a buffer, such as a "
      "NumPy array. Without a dtype, bool, whole and other numbers become bool, int64 and float32. "
      "copy=False gives a tensor over the same memory, as from_dlpack() does, or raises ValueError.";
  m.def("asarray", &asarray, "obj"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(),
        "copy"_a = nb::none(), text);
  m.def(
      "tensor",
      [](nb::handle data, const std::optional<DType>& dtype, const std::optional<Device>& device, bool requires_grad) {
        Tensor x = asarray(data, dtype, device, nb::isinstance<Tensor>(data) ? std::optional(true) : std::nullopt);
        return requires_grad ? x.requires_grad_() : x;
      },
      "data"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false,
      "A new tensor of the elements of `data`, as asarray() reads them.");
}

}  // namespace crisol::python
