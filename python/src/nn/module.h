// Modules of the library that Python may subclass.
#pragma once

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/variant.h>
#include <nanobind/trampoline.h>

#include <typeinfo>

#include "arguments.h"
#include "bindings.h"
#include "callback.h"
#include "option_casters.h"

namespace crisol::python {

/// The slots of all module classes. They show the garbage collector the children that the registry keeps.
extern PyType_Slot module_slots[];

/// A module of a Python class that is derived from L. The library calls forward and extra_repr of the Python class, if
/// it has them.
template <class L>
struct Overridable : L {
  NB_TRAMPOLINE(L);

  Tensor forward(const Tensor& x) override { NB_OVERRIDE(forward, x); }
  std::string extra_repr() const override { NB_OVERRIDE(extra_repr); }
  std::string type_name() const override {
    const nb::gil_scoped_acquire lock;
    return nb::cast<std::string>(nb::handle(nb_trampoline.base()).type().attr("__name__"));
  }
};

template <class L, class Base = nn::Module>
using LayerClass = nb::class_<L, Base, Overridable<L>>;

/// Makes functions of Module public that the library reserves for derived classes.
struct Registry : nn::Module {
  using Child = std::shared_ptr<nn::Module>;
  using Forward = std::function<Tensor(const Tensor&)>;

  static void add(nn::Module& m, const std::string& name, nn::Parameter& value) {
    (m.*(&Registry::register_parameter))(name, value);
  }
  static void add(nn::Module& m, const std::string& name, nn::Buffer& value) {
    (m.*(&Registry::register_buffer))(name, value);
  }
  static void add(nn::Module& m, const std::string& name, const Child& value) {
    using Add = Child (nn::Module::*)(const std::string&, const Child&);
    (m.*static_cast<Add>(&Registry::register_module<nn::Module>))(name, value);
  }
  static void replace(nn::Module& m, const std::string& name, const Child& value) {
    (m.*(&Registry::replace_child))(name, nullptr, value, nullptr);
  }
  static void remove(nn::Module& m, const std::string& name) { (m.*(&Registry::forget))(name); }
  static Tensor call_inside(nn::Module& m, const Tensor& x, const Forward& forward) {
    return (m.*(&Registry::call_inside_wrapper))(x, forward);
  }
};

/// Constructs a layer. For an instance of a Python subclass of L it constructs an Overridable.
template <class L, class... Args>
void construct(nb::pointer_and_handle<L> self, Args&&... args) {
  if (nb::inst_python_derived(self.h))
    new (static_cast<void*>(self.p)) Overridable<L>(std::forward<Args>(args)...);
  else
    new (static_cast<void*>(self.p)) L(std::forward<Args>(args)...);
}

/// Keeps a constructor's arguments in the attribute _arguments, a tuple. Unpickling makes the layer from them. The
/// arguments `device` and device + 1 are left out.
void keep_arguments(nb::handle self, PyObject** arguments, std::size_t count, std::size_t device = SIZE_MAX - 1);
/// Moves a layer to a device, if one is given. Throws for another dtype than float32.
void move_layer(nb::handle self, nb::handle device, nb::handle dtype);

struct KeepArguments {
  static void precall(PyObject**, std::size_t, nb::detail::cleanup_list*) {}
  template <std::size_t count>
  static void postcall(PyObject** arguments, std::integral_constant<std::size_t, count>, nb::handle) {
    keep_arguments(arguments[0], arguments + 1, count - 1);
  }
};

/// Keeps the arguments. For __init__ of layers.
inline constexpr nb::call_policy<KeepArguments> kept_arguments;

/// Keeps the arguments except for `device` and `dtype`, which are the arguments `place` and place + 1, and moves the
/// new layer to them.
template <std::size_t place>
struct KeepAndMove {
  static void precall(PyObject**, std::size_t, nb::detail::cleanup_list*) {}
  template <std::size_t count>
  static void postcall(PyObject** arguments, std::integral_constant<std::size_t, count>, nb::handle) {
    keep_arguments(arguments[0], arguments + 1, count - 1, place);
    move_layer(arguments[0], arguments[place + 1], arguments[place + 2]);
  }
};
template <std::size_t place>
inline constexpr nb::call_policy<KeepAndMove<place>> kept_and_moved;

/// Prepares a layer, before it is constructed, for an argument that Python code handles (crisol/nn/_special.py). The
/// attributes keep the argument.
template <class... Attributes>
void make_special(nb::handle self, Attributes&&... attributes) {
  nb::module_::import_("crisol.nn._special").attr("prepare")(self, std::forward<Attributes>(attributes)...);
}

/// Makes a deep copy of a layer that has no constructor arguments, because the library made it.
template <class L>
std::shared_ptr<nn::Module> copy_of(const L& layer) {
  const nb::gil_scoped_release free;
  const nn::detail::CloneScope scope(layer, typeid(L));
  return std::make_shared<L>(layer);
}

/// Binds the class of a layer. The caller adds the constructor and forward.
template <class L, class Base = nn::Module>
LayerClass<L, Base> make_class(nb::module_& m, const char* name, const char* text) {
  LayerClass<L, Base> layer(m, name, nb::dynamic_attr(), nb::is_weak_referenceable(), nb::type_slots(module_slots),
                            text);
  layer.def(
      "extra_repr", [](const L& self) { return in_python(self.L::extra_repr()); },
      "The settings of the layer for printing.");
  layer.def("_copy", &copy_of<L>);
  return layer;
}

/// Binds the class of a layer whose forward takes one tensor.
template <class L, class Base = nn::Module>
LayerClass<L, Base> bind_layer(nb::module_& m, const char* name, const char* text) {
  LayerClass<L, Base> layer = make_class<L, Base>(m, name, text);
  layer.def(
      "forward", [](L& self, const Tensor& x) { return self.L::forward(x); }, "input"_a, Unlocked(),
      "The output for one input.");
  return layer;
}

/// Makes `object` the object of a parameter, unless the parameter has an object.
void remember_object(const Tensor& parameter, nb::handle object);
/// The object of a parameter. Makes one if there is none.
nb::object object_of(const nn::Parameter& parameter);
/// The object of a parameter, which a module keeps from now on under a name.
nb::object kept_object(nb::handle module, const std::string& name, const nn::Parameter& parameter);
/// Is called before a parameter is tied to another one. A program that keeps the object gets a parameter with the
/// values and the gradient that the parameter has now.
void part_with_object(const nn::Parameter& parameter);

/// The value of a layer's member for Python. It is None if the layer has none, such as a bias. It is a plain tensor if
/// a tensor took the place of the parameter.
using SeenParameter = nb::typed<nb::object, std::optional<std::variant<nn::Parameter, Tensor>>>;
SeenParameter seen_parameter(nb::handle self, const char* name, const nn::Parameter& member);
/// Assigns to a layer's member. A Parameter is tied to the registered one. None ends the registration. Then a tensor,
/// such as the result of recorded ops, may take the place, and a Parameter is registered again.
void assign_parameter(nb::handle self, const char* name, nn::Parameter& member, nb::handle value);

/// Binds a member that is a parameter.
template <auto member, class Class>
void bind_parameter(Class& layer, const char* name, const char* text) {
  using L = typename Class::Type;
  layer.def_prop_rw(
      name, [name](nb::handle self) { return seen_parameter(self, name, nb::cast<const L&>(self).*member); },
      [name](nb::handle self, nb::handle value) { assign_parameter(self, name, nb::cast<L&>(self).*member, value); },
      nb::for_setter("value"_a.none()), text);
}

/// A buffer as Python gets it: a view that keeps its elements when the buffer is assigned.
inline nn::Buffer seen_buffer(const nn::Buffer& buffer) { return nn::Buffer(Tensor(buffer)); }

using ModuleClass = nb::class_<nn::Module, Overridable<nn::Module>>;

void bind_tensors_of_modules(nb::module_& m, ModuleClass& module);
void bind_hooks_of_modules(nb::module_& m, ModuleClass& module);
/// The implementation of __call__().
nb::object call_module(nb::handle self, const nb::args& args, const nb::kwargs& kwargs);
/// Visits the hooks of a module, of the children that the library owns, and of the parameters.
int visit_hooks(PyObject* self, visitproc visit, void* arg);
nn::Module& registry_of(nb::handle self);
/// The dict of a module's attributes, or null. Makes no object, so the collector may call it.
PyObject* attributes_of(PyObject* self);
void bind_layers(nb::module_& m);
void bind_norm_layers(nb::module_& m);
void bind_recurrent_layers(nb::module_& m);
void bind_containers(nb::module_& m);
void bind_models(nb::module_& m);
void bind_init(nb::module_& m);

}  // namespace crisol::python
