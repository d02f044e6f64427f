// The common parts of all files of the binding. Each file binds one topic in a function bind_…, which module.cpp calls.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "casters.h"
#include "crisol/crisol.h"

namespace crisol::python {

namespace nb = nanobind;
using namespace nb::literals;

/// Releases the interpreter's lock while a function of the library runs. For functions that touch no Python object.
using Unlocked = nb::call_guard<nb::gil_scoped_release>;

/// For functions that return their own tensor: Python gets the same object back.
inline constexpr auto itself = nb::rv_policy::none;

/// For example "float32" for f32.
std::string name_in_python(DType dtype);

using TensorClass = nb::class_<Tensor>;

/// The Python object of a parameter, or None if it has none. Tied parameters have one object.
nb::object known_object(const Tensor& parameter);

/// The buffer protocol of Tensor, and its slots for the garbage collector.
extern PyType_Slot tensor_slots[];

void bind_errors(nb::module_& m);
void bind_dtypes(nb::module_& m);
void bind_devices(nb::module_& m);
/// Makes the class. The functions below add members to it.
TensorClass bind_tensor(nb::module_& m);
void bind_host(nb::module_& m, TensorClass& tensor);
void bind_dlpack(nb::module_& m, TensorClass& tensor);
void bind_indexing(TensorClass& tensor);
void bind_operators(nb::module_& m, TensorClass& tensor);
void bind_pointwise(nb::module_& m, TensorClass& tensor);
void bind_reductions(nb::module_& m, TensorClass& tensor);
void bind_creation(nb::module_& m);
void bind_from_host(nb::module_& m);
void bind_arrange(nb::module_& m, TensorClass& tensor);
void bind_functions(nb::module_& m, TensorClass& tensor);
void bind_linalg(nb::module_& m, TensorClass& tensor);
void bind_select(nb::module_& m, TensorClass& tensor);
void bind_random(nb::module_& m, TensorClass& tensor);
void bind_autograd(nb::module_& m, TensorClass& tensor);
void bind_modules(nb::module_& m);
/// Adds QuantizedWeight and quantize() to `m`, and the layer to `modules`.
void bind_quantized(nb::module_& m, nb::module_& modules);
void bind_functional(nb::module_& m);
void bind_vision(nb::module_& m);
void bind_sampling(nb::module_& m);
void bind_losses(nb::module_& m);
void bind_optim(nb::module_& m);
/// Call it last. It makes the TypeErrors of all functions name the wrong argument.
void explain_calls(nb::module_& m);

}  // namespace crisol::python
