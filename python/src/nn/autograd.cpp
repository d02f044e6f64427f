// Modes of recording, gradients, custom functions, checkpoints, and hooks of tensors.
#include <cstddef>
#include <new>

#include "arguments.h"
#include "bindings.h"
#include "callback.h"
#include "collector.h"
#include "crisol/gradients.h"

namespace crisol::python {

namespace {

/// A scope of the library as a context manager of Python.
template <class Scope>
class Entered {
 public:
  void enter() { scope_.emplace(); }
  void leave() { scope_.reset(); }

 private:
  std::optional<Scope> scope_;
};

template <class Scope>
void bind_scope(nb::module_& m, const char* name) {
  nb::class_<Entered<Scope>>(m, name)
      .def(nb::init<>())
      .def("enter", &Entered<Scope>::enter)
      .def("leave", &Entered<Scope>::leave);
}

/// Switches a mode of this thread permanently: makes a scope that never ends. The scope owns no memory.
template <class Scope>
void begin_without_end() {
  alignas(Scope) std::byte place[sizeof(Scope)];
  ::new (static_cast<void*>(place)) Scope;
}

nb::object gradients(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs, const nb::object& given,
                     bool retain_graph, bool create_graph, bool allow_unused) {
  GradOptions options{given.is_none() ? std::vector<Tensor>() : tensors_of(given), retain_graph, create_graph,
                      allow_unused};
  return nb::tuple(with_none(unlocked([&] { return grad(outputs, inputs, options); })));
}

Tensor call_custom(const std::string& name, const std::vector<Tensor>& inputs, nb::callable forward,
                   nb::callable backward) {
  return unlocked([&, call = BackwardCall{GraphFunction(backward)}] {
    return custom_function(
        name, inputs,
        [&](const std::vector<Tensor>& x) {
          return with_python([&] { return nb::cast<Tensor>(forward(with_none(x))); });
        },
        call);
  });
}

std::vector<Tensor> call_checkpoint(nb::callable function, const std::vector<Tensor>& inputs) {
  return unlocked([&, call = CheckpointCall{GraphFunction(function)}] { return checkpoint(call, inputs); });
}

/// A part of a program in which functions convert their operands, or do not.
class AutocastScope {
 public:
  AutocastScope(DType dtype, bool enabled, bool caches) : dtype_(dtype), enabled_(enabled), caches_(caches) {
    const Autocast checked(dtype, enabled, caches);
  }
  void enter() { scope_.emplace(dtype_, enabled_, caches_); }
  void leave() { scope_.reset(); }

 private:
  DType dtype_;
  bool enabled_, caches_;
  std::optional<Autocast> scope_;
};

void bind_autocast(nb::module_& m) {
  nb::class_<AutocastScope>(m, "AutocastScope")
      .def(nb::init<DType, bool, bool>(), "dtype"_a, "enabled"_a, "cache_enabled"_a)
      .def("enter", &AutocastScope::enter, Unlocked())
      .def("leave", &AutocastScope::leave, Unlocked());
  m.def("is_autocast_enabled", &autocast_enabled);
  m.def("get_autocast_dtype", &autocast_dtype);
  m.def("is_autocast_cache_enabled", &autocast_cache_enabled);
  m.def(
      "autocast_operands",
      [](const std::string& op, const std::vector<Tensor>& tensors) { return autocast_operands(op.c_str(), tensors); },
      "op"_a, "tensors"_a, Unlocked());
}

void bind_hooks_of_tensors(TensorClass& tensor) {
  tensor
      .def(
          "register_hook",
          [](const Tensor& x, nb::callable hook) { return x.register_hook(GradientCall{GraphFunction(hook)}); },
          "hook"_a,
          "Calls hook(gradient) in backward() when all of this tensor's gradient is known. A tensor that the hook "
          "returns replaces the gradient. Returns a handle with remove().")
      .def(
          "register_post_accumulate_grad_hook",
          [](const Tensor& x, nb::callable hook) {
            return x.register_post_accumulate_grad_hook(LeafCall{GraphFunction(hook)});
          },
          "hook"_a, "Calls hook(leaf) in backward() when the grad of this leaf is complete.");
}

}  // namespace

void bind_autograd(nb::module_& extension, TensorClass& tensor) {
  nb::module_ m = extension.def_submodule("_autograd", "Gradients.");
  nb::class_<HookHandle>(m, "HookHandle", nb::dynamic_attr(), "Removes a hook.")
      .def(
          "__init__",
          [](HookHandle* self, nb::callable remove) { new (self) HookHandle([kept = Kept(remove)] { kept.get()(); }); },
          "remove"_a)
      .def("remove", &HookHandle::remove, "Removes the hook. The hook stays if the handle is dropped.")
      .def("__enter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__exit__", [](HookHandle& self, const nb::args&) { self.remove(); });
  auto* const ordinary = reinterpret_cast<PyTypeObject*>(nb::type<HookHandle>().ptr());
  traverse_attributes = reinterpret_cast<traverseproc>(PyType_GetSlot(ordinary, Py_tp_traverse));
  clear_attributes = reinterpret_cast<inquiry>(PyType_GetSlot(ordinary, Py_tp_clear));
  bind_scope<NoGrad>(m, "NoGrad");
  bind_scope<EnableGrad>(m, "EnableGrad");
  bind_scope<DetectAnomaly>(m, "DetectAnomaly");
  m.def("set_grad_enabled", [](bool mode) { mode ? begin_without_end<EnableGrad>() : begin_without_end<NoGrad>(); });
  m.def("is_grad_enabled", &grad_enabled, "Whether functions on this thread are recorded for backward().");
  m.def("grad", &gradients, "outputs"_a, "inputs"_a, "grad_outputs"_a.none(), "retain_graph"_a, "create_graph"_a,
        "allow_unused"_a);
  m.def("custom_function", &call_custom, "name"_a, "inputs"_a, "forward"_a, "backward"_a);
  m.def(
      "watch_gradients",
      [](const std::vector<Tensor>& tensors, nb::callable function) {
        return watch_gradients(tensors, WatchCall{GraphFunction(function)});
      },
      "tensors"_a, "function"_a);
  m.def("checkpoint", &call_checkpoint, "function"_a, "inputs"_a);
  bind_autocast(m);
  bind_hooks_of_tensors(tensor);
  bind_collector(m);
}

}  // namespace crisol::python
