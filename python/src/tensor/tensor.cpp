// The class Tensor: its properties, views and device. Other files add the other members.
#include <sstream>

#include "arguments.h"
#include "bindings.h"
#include "crisol/functions/bitwise.h"
#include "crisol/gradients.h"
#include "tensor/host.h"

namespace crisol::python {

namespace {

/// Returns the first argument itself if the result is the same tensor.
struct ReturnSameObject {
  static void precall(PyObject**, std::size_t, nb::detail::cleanup_list*) {}
  template <std::size_t count>
  static void postcall(PyObject** arguments, std::integral_constant<std::size_t, count>, PyObject*& result) {
    if (nb::inst_ptr<Tensor>(arguments[0])->impl() != nb::inst_ptr<Tensor>(result)->impl()) return;
    const nb::object other_handle = nb::steal(result);
    result = nb::borrow(arguments[0]).release().ptr();
  }
};
inline constexpr nb::call_policy<ReturnSameObject> same_object;

/// The library's text, with Python's words for bool and Python's names of dtypes.
std::string repr_of(const Tensor& x) {
  if (!x.defined()) return "tensor(undefined)";
  std::ostringstream stream;
  stream << x;
  std::string text = stream.str();
  replace_all(text, "true", "True");
  replace_all(text, "false", "False");
  // As in PyTorch: an empty vector shows no size, and bools and whole numbers show no dtype.
  replace_all(text, ", shape=(0)", "");
  replace_all(text, ", shape=", ", size=");
  const bool implied = x.numel() > 0 && (kind_of(x.dtype()) == DTypeKind::boolean || x.dtype() == DType::i64);
  replace_all(text, std::string(", dtype=") + name_of(x.dtype()),
              implied ? "" : ", dtype=crisol." + name_in_python(x.dtype()));
  return text;
}

/// The shape as a crisol.Size, a class that Python defines.
nb::object size_of_axes(const Tensor& x) {
  static const nb::handle type = nb::object(nb::module_::import_("crisol._functions._members").attr("Size")).release();
  const Shape shape = x.shape();
  PyObject* size = PyType_GenericAlloc(reinterpret_cast<PyTypeObject*>(type.ptr()), shape.rank());
  if (size == nullptr) throw nb::python_error();
  for (int i = 0; i < shape.rank(); ++i) PyTuple_SetItem(size, i, PyLong_FromLongLong(shape[i]));
  return nb::steal(size);
}

void bind_properties(TensorClass& tensor) {
  tensor
      .def_prop_ro("shape", &size_of_axes, nb::for_getter(nb::sig("def shape(self) -> Size")),
                   "The sizes of the axes, outermost first, as a tuple with numel().")
      .def_prop_ro("strides", &Tensor::strides, "The distances between neighbours along each axis, in elements.")
      .def_prop_ro("dtype", &Tensor::dtype, "The element type.")
      .def_prop_ro("device", &Tensor::device, "The device that holds the elements.")
      .def_prop_ro("ndim", &Tensor::dim, "The number of axes.")
      .def_prop_ro(
          "itemsize", [](const Tensor& x) { return size_of(x.dtype()); }, "The bytes of one element.")
      .def_prop_ro(
          "nbytes", [](const Tensor& x) { return size_of(x.dtype()) * static_cast<std::size_t>(x.numel()); },
          "The bytes of all elements.")
      .def_prop_ro("T", &Tensor::T, Unlocked(), "A view with all axes in the opposite order.")
      .def_prop_ro("mT", &matrix_transpose, Unlocked(), "A view with the last two axes exchanged.")
      .def("dim", &Tensor::dim, "The number of axes.")
      .def("numel", &Tensor::numel, "The number of elements.")
      .def("storage_offset", &Tensor::offset, "The number of elements in memory before the first one.")
      .def(
          "is_contiguous", [](const Tensor& x, const nb::object&) { return x.is_contiguous(); }, nb::kw_only(),
          "memory_format"_a = nb::none(), "Whether the elements lie one after another in memory.")
      .def("shares_storage_with", &Tensor::shares_storage_with, "other"_a,
           "Whether both tensors use the same memory. They may be different parts of it.");
}

/// reshape() without a copy. Throws if a copy would be needed. With a dtype, a copy whose bits count as that type.
Tensor view_of(const Tensor& x, const nb::args& shape) {
  if (shape.size() == 1 && shape[0].type().is(nb::handle(dtype_objects[0]).type()))
    return unlocked([&, dtype = nb::cast<DType>(shape[0])] { return bit_cast(x, dtype); });
  return unlocked([&, wanted = shape_of(shape)] {
    const Tensor y = x.reshape(wanted);
    if (!y.shares_storage_with(x) && x.numel() > 0)
      throw Error(ErrorCode::invalid_argument, "[view] the strides " + to_string(x.strides()) + " of shape " +
                                                   to_string(x.shape()) + " allow no view of shape " +
                                                   to_string(y.shape()) + "; use reshape()");
    return y;
  });
}

void bind_views(TensorClass& tensor) {
  tensor
      .def(
          "reshape",
          [](const Tensor& x, const nb::args& shape) {
            return unlocked([&, s = shape_of(shape)] { return x.reshape(s); });
          },
          nb::sig("def reshape(self, *shape: int | collections.abc.Sequence[int]) -> Tensor"),
          "The same elements in another shape. One size may be -1. A view if the strides allow it, otherwise a copy.")
      .def(
          "permute",
          [](const Tensor& x, const nb::args& axes) {
            return unlocked([&, s = shape_of(axes)] { return x.permute(s); });
          },
          nb::sig("def permute(self, *axes: int | collections.abc.Sequence[int]) -> Tensor"),
          "A view whose axis i is axis axes[i] of this tensor.")
      .def(
          "expand",
          [](const Tensor& x, const nb::args& shape) {
            return unlocked([&, s = shape_of(shape)] { return x.expand(s); });
          },
          nb::sig("def expand(self, *shape: int | collections.abc.Sequence[int]) -> Tensor"),
          "Repeats axes of size 1 without a copy. -1 keeps the size of an axis.")
      .def("view", &view_of, nb::sig("def view(self, *shape: int | collections.abc.Sequence[int] | dtype) -> Tensor"),
           "The same elements in another shape, never a copy. One size may be -1.")
      .def("flatten", &Tensor::flatten, "start_dim"_a = 0, "end_dim"_a = -1, Unlocked(),
           "Merges the axes start_dim to end_dim into one axis.")
      .def("transpose", &Tensor::transpose, "dim0"_a, "dim1"_a, Unlocked(), "A view with two axes exchanged.")
      .def("t", &Tensor::t, Unlocked(), "The transposed matrix.");
  define_along(tensor, "narrow", &Tensor::narrow, "axis"_a, "start"_a, "length"_a, Unlocked(),
               "A view of the elements start to start + length - 1 along an axis.");
  define_along(tensor, "select", &Tensor::select, "axis"_a, "index"_a, Unlocked(),
               "A view of one element along an axis.");
  define_along(tensor, "unsqueeze", &Tensor::unsqueeze, "axis"_a, Unlocked(),
               "A view with a new axis of size 1 before `axis`.");
  tensor
      .def(
          "contiguous", [](const Tensor& x, const nb::object&) { return unlocked([&] { return x.contiguous(); }); },
          nb::kw_only(), "memory_format"_a = nb::none(), same_object,
          "This tensor if it is contiguous, otherwise a copy.")
      .def(
          "clone", [](const Tensor& x, const nb::object&) { return unlocked([&] { return x.clone(); }); },
          nb::kw_only(), "memory_format"_a = nb::none(), "A contiguous copy.");
}

/// Implements x.to(dtype), x.to(device) and x.to(device, dtype).
Tensor moved(const Tensor& x, const std::optional<Device>& device, const std::optional<DType>& dtype, bool copy) {
  Tensor y = device ? x.to(*device) : x;
  if (dtype) y = y.to(*dtype);
  return copy && y.impl() == x.impl() ? x.clone() : y;
}

void bind_moves(TensorClass& tensor) {
  const char* text =
      "This tensor if it is on the device and has the dtype, otherwise a copy. `non_blocking` and `memory_format` "
      "change "
      "nothing.";
  const auto none = nb::none();
  tensor
      .def(
          "to",
          [](const Tensor& x, DType dtype, bool, bool copy, const nb::object&) {
            return unlocked([&] { return moved(x, {}, dtype, copy); });
          },
          "dtype"_a, "non_blocking"_a = false, "copy"_a = false, nb::kw_only(), "memory_format"_a = none, same_object,
          text)
      .def(
          "to",
          [](const Tensor& x, const std::optional<Device>& device, const std::optional<DType>& dtype, bool, bool copy,
             const nb::object&) { return unlocked([&] { return moved(x, device, dtype, copy); }); },
          "device"_a = none, "dtype"_a = none, "non_blocking"_a = false, "copy"_a = false, nb::kw_only(),
          "memory_format"_a = none, same_object, text)
      .def(
          "to",
          [](const Tensor& x, const Tensor& other, bool, bool copy, const nb::object&) {
            return unlocked([&] { return moved(x, other.device(), other.dtype(), copy); });
          },
          "other"_a, "non_blocking"_a = false, "copy"_a = false, nb::kw_only(), "memory_format"_a = none, same_object,
          "The same with the device and dtype of other.")
      .def(
          "to_device",
          [](const Tensor& x, Device device, nb::handle) { return unlocked([&] { return x.to(device); }); }, "device"_a,
          nb::kw_only(), "stream"_a = nb::none(), same_object,
          "This tensor if it is on the device, otherwise a copy there. `stream` has no meaning here.")
      .def(
          "float", [](const Tensor& x, nb::handle) { return unlocked([&] { return x.to(DType::f32); }); },
          "memory_format"_a = nb::none(), same_object, "The elements as float32.")
      .def(
          "half", [](const Tensor& x, nb::handle) { return unlocked([&] { return x.to(DType::f16); }); },
          "memory_format"_a = nb::none(), same_object, "The elements as float16.")
      .def(
          "int", [](const Tensor& x, nb::handle) { return unlocked([&] { return x.to(DType::i32); }); },
          "memory_format"_a = nb::none(), same_object, "The elements as int32.")
      .def(
          "long", [](const Tensor& x, nb::handle) { return unlocked([&] { return x.to(DType::i64); }); },
          "memory_format"_a = nb::none(), same_object, "The elements as int64.")
      .def(
          "bool", [](const Tensor& x, nb::handle) { return unlocked([&] { return x.to(DType::boolean); }); },
          "memory_format"_a = nb::none(), same_object, "Whether the elements are not 0.");
}

void bind_writes(TensorClass& tensor) {
  tensor
      .def(
          "copy_", [](Tensor& x, const Tensor& source, bool) -> Tensor& { return x.copy_from(source), x; }, "source"_a,
          "non_blocking"_a = false, Unlocked(), itself,
          "Overwrites all elements with those of `source`, broadcast and converted. Returns this tensor.")
      .def("fill_", &Tensor::fill_, "value"_a, Unlocked(), itself,
           "Sets every element to a value. Returns this tensor.")
      .def(
          "_become", [](Tensor& x, const Tensor& other) -> Tensor& { return x = other; }, "other"_a, itself,
          "Makes this object stand for another tensor.")
      .def("zero_", &Tensor::zero_, Unlocked(), itself, "Sets every element to 0. Returns this tensor.");
}

void bind_gradients(TensorClass& tensor) {
  tensor
      .def_prop_rw(
          "requires_grad", [](const Tensor& x) { return x.requires_grad(); },
          [](Tensor& x, bool wanted) { x.requires_grad_(wanted); },
          "Whether this tensor wants a gradient, or depends on a tensor that wants one.")
      .def("requires_grad_", &Tensor::requires_grad_, "requires_grad"_a = true, itself,
           "Makes this leaf want a gradient, or no longer want one. Returns this tensor.")
      .def_prop_ro("_version", &element_version, "A number that grows with each write to the elements.")
      .def_prop_ro("is_leaf", &Tensor::is_leaf, "Whether this tensor is not the result of a recorded function.")
      .def_prop_rw(
          "grad", [](const Tensor& x) { return if_defined(x.grad()); },
          [](const Tensor& x, const std::optional<Tensor>& gradient) {
            unlocked([&] { set_grad(x, or_undefined(gradient)); });
          },
          nb::for_setter("gradient"_a.none()),
          "The gradient that backward() added up, or None. A tensor that is assigned to it is copied. None discards "
          "it.")
      .def(
          "backward",
          [](const Tensor& x, const std::optional<Tensor>& gradient, std::optional<bool> retain_graph,
             bool create_graph, const nb::object& inputs) {
            const bool retain = retain_graph.value_or(create_graph);
            if (!inputs.is_none()) {
              nb::module_::import_("crisol.autograd").attr("_add_to")(x, gradient, inputs, retain, create_graph);
              return;
            }
            unlocked([&] { x.backward(or_undefined(gradient), {retain, create_graph}); });
          },
          "gradient"_a = nb::none(), "retain_graph"_a = nb::none(), "create_graph"_a = false, "inputs"_a = nb::none(),
          nb::sig("def backward(self, gradient: Tensor | None = None, retain_graph: bool | None = None, "
                  "create_graph: bool = False, inputs: Tensor | Sequence[Tensor] | None = None) -> None"),
          "Adds the gradients of this tensor to the grad of the leaves that it depends on, or only to that of "
          "`inputs`.")
      .def("retain_grad", &Tensor::retain_grad, itself,
           "Makes backward() keep the gradient of this result in its grad.")
      .def("detach", &Tensor::detach, Unlocked(), "The same elements, outside the graph.");
}

/// Implements Tensor(data) and Tensor(2, 3), as in PyTorch: numbers become float32, sizes give a tensor without values.
void construct_tensor(Tensor* self, const nb::args& data) {
  const nb::module_ crisol = nb::module_::import_("crisol");
  bool sizes = true;
  for (const nb::handle one : data) sizes = sizes && PyLong_Check(one.ptr()) && !PyBool_Check(one.ptr());
  if (!sizes && data.size() > 1) throw nb::type_error(wrong_part);
  nb::object made;
  if (sizes)
    made = crisol.attr("empty")(data.size() == 0 ? nb::make_tuple(0) : nb::borrow<nb::tuple>(data));
  else
    made = nb::isinstance<Tensor>(data[0]) ? nb::borrow(data[0])
                                           : crisol.attr("asarray")(data[0], "dtype"_a = default_dtype());
  new (self) Tensor(nb::cast<const Tensor&>(made));
}

}  // namespace

TensorClass bind_tensor(nb::module_& m) {
  TensorClass tensor(m, "Tensor", nb::is_weak_referenceable(), nb::type_slots(tensor_slots),
                     "Elements on a device, with a shape and strides. Reshapes, transposes and slices are views of the "
                     "same memory. Work is queued: only reads to the host wait for it.");
  tensor.def("__repr__", [](const Tensor& x) {
    if (x.defined()) wait_ahead(x.device());
    return unlocked([&] { return repr_of(x); });
  });
  m.def("_print_options", [] {
    const PrintOptions now = print_options();
    return std::tuple(now.precision, now.threshold, now.edge_items, now.line_width);
  });
  m.def(
      "_set_print_options",
      [](int precision, std::int64_t threshold, std::int64_t edge_items, int line_width,
         std::optional<bool> scientific) {
        set_print_options({precision, threshold, edge_items, line_width, scientific});
      },
      "precision"_a, "threshold"_a, "edge_items"_a, "line_width"_a, "scientific"_a.none());
  tensor.def("__init__", &construct_tensor, nb::sig("def __init__(self, *data: typing.Any) -> None"),
             "Numbers in the default dtype, or sizes of a tensor without values. crisol.asarray() is the better way.");
  bind_properties(tensor);
  bind_views(tensor);
  bind_moves(tensor);
  bind_writes(tensor);
  bind_gradients(tensor);
  return tensor;
}

}  // namespace crisol::python
