// Elements to the host: numbers, lists, NumPy arrays, pickles.
#include <cstring>

#include "arguments.h"
#include "bindings.h"
#include "crisol/dtype_table.h"
#include "tensor/host.h"

namespace crisol::python {

nb::object element_object(const unsigned char* at, DType dtype) {
  return with_host_type(dtype, [&](auto element) -> nb::object {
    std::memcpy(&element, at, sizeof element);
    if constexpr (std::is_integral_v<decltype(element)>)
      return nb::cast(element);
    else
      return nb::cast(as_double(element));
  });
}

namespace {

std::size_t bytes_of(const Tensor& x) { return static_cast<std::size_t>(x.numel()) * size_of(x.dtype()); }

nb::object item(const Tensor& x) {
  if (x.numel() != 1)
    raise("InvalidArgumentError",
          "[item] a tensor of shape " + to_string(x.shape()) + " has not one element, so it has no single value");
  std::array<unsigned char, 8> bytes{};
  read_elements(x, bytes.data());
  return element_object(bytes.data(), x.dtype());
}

nb::object nested(const unsigned char*& at, const Tensor& x, int axis) {
  if (axis == x.dim()) {
    nb::object value = element_object(at, x.dtype());
    at += size_of(x.dtype());
    return value;
  }
  nb::list list;
  for (std::int64_t i = 0; i < x.shape()[axis]; ++i) list.append(nested(at, x, axis + 1));
  return list;
}

nb::object to_list(const Tensor& x) {
  std::vector<unsigned char> bytes(bytes_of(x));
  read_elements(x, bytes.data());
  const unsigned char* at = bytes.data();
  return nested(at, x, 0);
}

nb::object to_numpy(const Tensor& x) {
  if (dtype_row(x.dtype()).format == '\0')
    throw nb::type_error(("[numpy] NumPy has no " + name_in_python(x.dtype()) + "; convert with .float()").c_str());
  const nb::object array =
      nb::module_::import_("numpy").attr("empty")(nb::cast(x.shape()), "dtype"_a = nb::cast(x.dtype()).attr("name"));
  Py_buffer view;
  if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_WRITABLE) != 0) throw nb::python_error();
  try {
    read_elements(x, view.buf);
  } catch (...) {
    PyBuffer_Release(&view);
    throw;
  }
  PyBuffer_Release(&view);
  return array;
}

/// As in PyTorch, an array of a recorded tensor must be asked for, because no gradient goes through NumPy.
void refuse_recorded(const Tensor& x) {
  if (is_recorded(x)) throw std::runtime_error("[numpy] the tensor requires grad: use x.detach().numpy()");
}

nb::object array_protocol(const Tensor& x, const nb::object& dtype, const nb::object& copy) {
  refuse_recorded(x);
  if (copy.ptr() == Py_False)
    throw nb::value_error("[__array__] the elements lie on a device, so an array without a copy is impossible");
  const nb::object array = to_numpy(x);
  return dtype.is_none() ? array : nb::object(array.attr("astype")(dtype, "copy"_a = false));
}

nb::bytes to_bytes(const Tensor& x) {
  nb::bytes bytes = nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(bytes_of(x))));
  if (!bytes.is_valid()) throw nb::python_error();
  read_elements(x, PyBytes_AsString(bytes.ptr()));
  return bytes;
}

/// Makes the tensor of a pickle, on the default device.
Tensor rebuild(const nb::bytes& bytes, const Shape& shape, DType dtype, bool requires_grad) {
  if (bytes.size() != static_cast<std::size_t>(shape.numel()) * size_of(dtype))
    throw nb::value_error("[unpickle] the number of bytes does not fit the shape");
  Tensor x = unlocked([&, data = bytes.c_str()] { return from_bytes(data, shape, dtype); });
  return requires_grad ? x.requires_grad_() : x;
}

nb::object as_python_number(const Tensor& x, const char* type) {
  return nb::module_::import_("builtins").attr(type)(item(x));
}

nb::object index(const Tensor& x) {
  // Must be a TypeError: bytes(x) first tries an index, and only after a TypeError reads the buffer.
  if (!is_whole(x.dtype()) || x.numel() != 1)
    throw nb::type_error("only a tensor with one whole number can be a position");
  return item(x);
}

}  // namespace

void bind_host(nb::module_& m, TensorClass& tensor) {
  m.def("_rebuild", &rebuild);
  tensor
      .def("item", &item, nb::sig("def item(self) -> bool | int | float"),
           "The value of a tensor with one element, as bool, int or float. Waits.")
      .def("tolist", &to_list, nb::sig("def tolist(self) -> typing.Any"),
           "The elements as nested lists; a number for a scalar. Waits.")
      .def(
          "numpy",
          [](const Tensor& x, bool force) {
            if (!force) refuse_recorded(x);
            return to_numpy(x);
          },
          nb::kw_only(), "force"_a = false, nb::sig("def numpy(self, *, force: bool = False) -> typing.Any"),
          "The elements as a NumPy array, a copy. Waits. Refuses a tensor that requires grad, unless `force` is set.")
      .def("tobytes", &to_bytes, "The elements as bytes, outermost axis first. Waits.")
      .def("__array__", &array_protocol, "dtype"_a = nb::none(), "copy"_a = nb::none())
      .def(
          "__bool__", [](const Tensor& x) { return as_python_number(x, "bool"); },
          nb::sig("def __bool__(self) -> bool"))
      .def(
          "__int__", [](const Tensor& x) { return as_python_number(x, "int"); }, nb::sig("def __int__(self) -> int"))
      .def(
          "__float__", [](const Tensor& x) { return as_python_number(x, "float"); },
          nb::sig("def __float__(self) -> float"))
      .def(
          "__complex__", [](const Tensor& x) { return as_python_number(x, "complex"); },
          nb::sig("def __complex__(self) -> complex"))
      .def("__index__", &index, nb::sig("def __index__(self) -> int"))
      .def("__format__",
           [](nb::handle self, const nb::str& format) {
             const Tensor& x = nb::cast<const Tensor&>(self);
             const nb::object value = x.dim() == 0 ? item(x) : nb::object(nb::str(self));
             return nb::module_::import_("builtins").attr("format")(value, format);
           })
      .def("__reduce__",
           [](const Tensor& x) {
             const nb::object make = nb::module_::import_("crisol._pickle").attr("rebuild_tensor");
             return nb::make_tuple(make, nb::make_tuple(to_bytes(x), nb::cast(x.shape()), nb::cast(x.dtype()),
                                                        x.is_leaf() && x.requires_grad()));
           })
      .def("__deepcopy__",
           [](const Tensor& x, nb::handle) {
             if (!x.is_leaf())
               throw std::runtime_error("[deepcopy] the tensor is the result of a recorded function: use x.detach()");
             const bool wanted = x.requires_grad();
             return unlocked([&] { return x.detach().clone(); }).requires_grad_(wanted);
           })
      .def("__copy__", [](const Tensor& x) { return x; });
  // Makes NumPy's operators leave the work to this class.
  tensor.attr("__array_priority__") = 1000;
}

}  // namespace crisol::python
