// Hooks of modules. crisol/nn/_hooks.py keeps them in one table for each module and calls them. A wrapper around the
// module's calls owns the table. So hooks also run when the library itself calls a layer.
#include "collector.h"
#include "nn/module.h"

namespace crisol::python {

namespace {

nb::object call_table(nb::handle table, nb::handle module, nb::handle forward, nb::handle args, nb::handle kwargs) {
  return table.attr("call")(module, forward, args, kwargs);
}

/// The wrapper around the calls of a module that has a table of hooks.
class HookedCall {
 public:
  HookedCall(nb::handle module, nb::handle table)
      : table_(table.inc_ref().ptr(), &HookedCall::release),
        module_(nb::steal(PyWeakref_NewRef(module.ptr(), nullptr))) {}

  /// Called when the library calls the module.
  Tensor operator()(nn::Module& m, const Tensor& x, const Registry::Forward& call) const {
    return with_python([&] {
      const nb::object forward =
          nb::cpp_function([&call](const Tensor& input) { return unlocked([&] { return call(input); }); });
      const nb::object result = call_table(table_.get(), object_of(m), forward, nb::make_tuple(x), nb::dict());
      if (!nb::isinstance<Tensor>(result))
        throw nb::type_error("a hook gave a result that the library cannot use here: it must be a tensor");
      return nb::cast<Tensor>(result);
    });
  }
  nb::handle table() const noexcept { return table_.get(); }
  /// The table if no other wrapper shares it, else null.
  PyObject* own_table() const noexcept { return table_.use_count() == 1 ? table_.get() : nullptr; }

 private:
  static void release(PyObject* table) noexcept {
    if (Py_IsInitialized() == 0) return;
    const nb::gil_scoped_acquire lock;
    Py_DECREF(table);
  }
  /// The Python object of the module. If the object no longer exists, makes one for this call.
  nb::object object_of(nn::Module& m) const {
    const nb::object found = module_.get()();
    return found.is_none() ? nb::cast(&m, nb::rv_policy::reference) : found;
  }

  std::shared_ptr<PyObject> table_;
  Kept module_;  ///< A weak reference.
};

const HookedCall* hooked(const nn::Module& m) { return m.call_wrapper().target<HookedCall>(); }

/// forward() with the library's hooks, which see only tensors.
nb::object call_inside(nb::handle self, const nb::args& args, const nb::kwargs& kwargs) {
  nn::Module& m = registry_of(self);
  const nb::object forward = self.attr("forward");
  if (args.size() != 1 || kwargs.size() > 0 || !nb::isinstance<Tensor>(args[0])) return forward(*args, **kwargs);
  const Tensor x = nb::cast<Tensor>(args[0]);
  nb::object result;
  const Tensor seen = unlocked([&] {
    return Registry::call_inside(m, x, [&](const Tensor& input) {
      return with_python([&] {
        result = forward(input.impl() == x.impl() ? nb::borrow(args[0]) : nb::cast(input));
        return nb::isinstance<Tensor>(result) ? nb::cast<Tensor>(result) : x;
      });
    });
  });
  const bool is_result =
      result.is_valid() && (!nb::isinstance<Tensor>(result) || nb::cast<const Tensor&>(result).impl() == seen.impl());
  return is_result ? result : nb::cast(seen);  // replace_forward may have replaced forward.
}

/// Visits the hook table of a module, if the module has at most this number of handles and all have one owner.
int visit_table(const nn::Module& m, std::int64_t handles, visitproc visit, void* arg) {
  const HookedCall* call = hooked(m);
  if (call == nullptr || m.handles() > handles) return 0;
  Py_VISIT(call->own_table());
  return 0;
}

/// Visits the hooks of the module's own parameters. The registry owns a parameter, and so does each copy of the layer's
/// C++ class, which are the module's handles. The attribute of a Python class owns it too. Where owners are counted,
/// the attribute visits it itself.
int visit_parameters(const nn::Module& m, PyObject* attributes, std::int64_t copies, visitproc visit, void* arg) {
  if (!GraphFunction::any() || m.handles() > copies) return 0;
  for (auto& [name, parameter] : m.named_parameters()) {
    if (name.find('.') != std::string::npos) continue;
    PyObject* const attribute = attributes == nullptr ? nullptr : PyDict_GetItemString(attributes, name.c_str());
    if (attribute != nullptr && !counts_owners() && Py_REFCNT(attribute) != 1) continue;
    const GraphPart part = part_of(std::exchange(parameter, Tensor()));
    const std::int64_t others = attribute == nullptr ? copies : counts_owners() ? 0 : 1;
    if (const int stop = visit_graph(part, 1 + others, visit, arg)) return stop;
  }
  return 0;
}

/// Visits the hooks of children that the library owns. Such a child is a member of the parent's C++ class, with a copy
/// in the registry.
int visit_children(const nn::Module& m, visitproc visit, void* arg) {
  for (const auto& [name, child] : m.named_children()) {
    if (std::get_deleter<nb::detail::py_deleter>(child) != nullptr || child.use_count() > 1) continue;
    if (const int stop = visit_table(*child, 2, visit, arg)) return stop;
    if (const int stop = visit_children(*child, visit, arg)) return stop;
    if (const int stop = visit_parameters(*child, nullptr, 2, visit, arg)) return stop;
  }
  return 0;
}

}  // namespace

nb::object call_module(nb::handle self, const nb::args& args, const nb::kwargs& kwargs) {
  const nn::Module& m = registry_of(self);
  if (!m.has_hooks()) return self.attr("forward")(*args, **kwargs);
  if (const HookedCall* call = hooked(m))
    return call_table(nb::borrow(call->table()), self, self.attr("_call_inside"), args, kwargs);
  return call_inside(self, args, kwargs);
}

int visit_hooks(PyObject* self, visitproc visit, void* arg) {
  const nn::Module& m = *nb::inst_ptr<nn::Module>(self);
  if (const int stop = visit_table(m, 1, visit, arg)) return stop;
  if (const int stop = visit_children(m, visit, arg)) return stop;
  return visit_parameters(m, attributes_of(self), 1, visit, arg);
}

void bind_hooks_of_modules(nb::module_&, ModuleClass& module) {
  module.def("_call_inside", &call_inside)
      .def("_hooks",
           [](const nn::Module& self) {
             const HookedCall* call = hooked(self);
             return call == nullptr ? nb::none() : nb::borrow(call->table());
           })
      .def("_set_hooks", [](nb::handle self, const nb::object& table) {
        nb::cast<nn::Module&>(self).wrap_call(HookedCall(self, table));
      });
}

}  // namespace crisol::python
