// The class nn.Module. Children, parameters and buffers are in the library's registry, so the library handles a Python
// module like its own modules. A Python module also stores them as attributes, which are fast to read.
#include "nn/module.h"

#include "arguments.h"
#include "collector.h"
#include "crisol/nn/identity.h"

namespace crisol::python {

namespace {

using Child = std::shared_ptr<nn::Module>;

int traverse(PyObject* self, visitproc visit, void* arg) {
  if (const int stop = traverse_attributes(self, visit, arg)) return stop;
  if (!nb::inst_ready(self)) return 0;
  for (const auto& [name, child] : nb::inst_ptr<nn::Module>(self)->named_children())
    if (const auto* owner = std::get_deleter<nb::detail::py_deleter>(child)) Py_VISIT(owner->o);
  return visit_hooks(self, visit, arg);
}

int clear(PyObject* self) { return clear_attributes(self); }

Child child_of(const nn::Module& m, const std::string& name) {
  for (const auto& [its_name, child] : m.named_children())
    if (its_name == name) return child;
  return nullptr;
}

void set_attribute(nb::handle self, nb::handle name, nb::handle value) {
  if (PyObject_GenericSetAttr(self.ptr(), name.ptr(), value.ptr()) != 0) throw nb::python_error();
}

/// The module's own parameter of this name. A tied parameter has several names, and named_parameters() lists only one.
std::optional<nn::Parameter> parameter_of(const nn::Module& m, const std::string& name) {
  if (name.find('.') != std::string::npos) return std::nullopt;
  try {
    return m.parameter(name);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<nn::Buffer> buffer_of(const nn::Module& m, const std::string& name) {
  if (name.find('.') != std::string::npos) return std::nullopt;
  try {
    return m.buffer(name);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Whether the class has a property of this name, such as weight of Linear.
bool is_property(nb::handle self, nb::handle name) {
  const nb::object found = nb::getattr(self.type(), name, nb::none());
  return !found.is_none() && nb::hasattr(found.type(), "__set__");
}

void set_module(nb::handle self, nb::handle name, nb::handle value) {
  const Child child = nb::cast<Child>(value);
  nn::Module& m = registry_of(self);
  const std::string text = nb::cast<std::string>(name);
  if (child_of(m, text) == nullptr) {
    Registry::add(m, text, child);
  } else if (nb::cast<nb::dict>(self.attr("__dict__")).contains(name)) {
    Registry::replace(m, text, child);
  } else {
    // A class of C++ keeps the child as a member. The registry cannot replace the member.
    PyErr_Format(PyExc_TypeError, "the module '%s' of a %s cannot be replaced", text.c_str(), m.type_name().c_str());
    throw nb::python_error();
  }
  set_attribute(self, name, value);
}

/// The object that a Python module keeps as an attribute, or an invalid object.
nb::object kept_attribute(nb::handle self, nb::handle name) {
  const nb::dict attributes = nb::cast<nb::dict>(self.attr("__dict__"));
  return attributes.contains(name) ? nb::borrow(attributes[name]) : nb::object();
}

/// Makes a Python object refer to `other` from now on. It referred to the module's buffer, which is about to change.
void show_instead(const nb::object& object, const nn::Buffer& registered, const Tensor& other) {
  if (!object.is_valid() || !nb::isinstance<nn::Buffer>(object)) return;
  Tensor& shown = nb::cast<nn::Buffer&>(object);
  if (shown.impl() == registered.impl()) shown = other;
}

/// Ties a registered parameter to another one, which may have another shape. Its other ties end.
void tie_to(nn::Parameter& registered, const nn::Parameter& other) {
  part_with_object(registered);
  if (registered.shape() != other.shape()) {
    registered = nn::Parameter(registered.detach(), false);
    registered = other.detach();
  }
  registered = other;
}

void set_parameter(nb::handle self, nb::handle name, nb::handle value) {
  nn::Parameter& parameter = nb::cast<nn::Parameter&>(value);
  nn::Module& m = registry_of(self);
  const std::string text = nb::cast<std::string>(name);
  auto now = parameter_of(m, text);
  remember_object(parameter, value);
  if (now && now->impl() == parameter.impl()) return;  // For p += 1, Python assigns the parameter itself.
  if (now) {
    tie_to(*now, parameter);
  } else {
    Registry::add(m, text, parameter);
  }
  set_attribute(self, name, value);
}

/// Gives a registered buffer a new value. A Python object that refers to the buffer keeps the old elements.
void assign_buffer(nb::handle self, nb::handle name, nn::Buffer& registered, const Tensor& value) {
  if (value.impl() == registered.impl()) return;  // For b += 1, Python assigns the buffer itself.
  const nb::object kept = kept_attribute(self, name);
  const Tensor old = registered;
  registered = value;
  show_instead(kept, registered, old);
  if (kept.is_valid()) set_attribute(self, name, nb::cast(registered));
}

void set_buffer(nb::handle self, nb::handle name, nb::handle value) {
  nn::Buffer& buffer = nb::cast<nn::Buffer&>(value);
  nn::Module& m = registry_of(self);
  const std::string text = nb::cast<std::string>(name);
  if (auto now = buffer_of(m, text)) {
    assign_buffer(self, name, *now, static_cast<const Tensor&>(buffer));
  } else {
    Registry::add(m, text, buffer);
    set_attribute(self, name, value);
  }
}

/// The names of buffers that are None. A tensor that is assigned to such a name becomes the buffer.
constexpr const char* absent_buffers = "_absent_buffers";

bool is_absent_buffer(nb::handle self, nb::handle name) {
  const nb::object names = kept_attribute(self, nb::str(absent_buffers));
  return names.is_valid() && nb::cast<bool>(names.attr("__contains__")(name));
}

void note_absent_buffer(nb::handle self, nb::handle name) {
  const nb::object names = kept_attribute(self, nb::str(absent_buffers));
  const nb::object own = nb::frozenset(nb::make_tuple(name));
  set_attribute(self, nb::str(absent_buffers), names.is_valid() ? nb::object(names.attr("union")(own)) : own);
}

[[noreturn]] void refuse(const char* format, const nn::Module& m, const std::string& name) {
  PyErr_Format(PyExc_TypeError, format, m.type_name().c_str(), name.c_str());
  throw nb::python_error();
}

constexpr const char* takes_its_kind = "%s: '%s' is a parameter, buffer or module; assign another one to it, or None";
constexpr const char* is_member = "%s: '%s' is a part of the library's layer, which computes with it, so it stays";

/// Whether the module itself has a parameter, buffer or child of this name.
bool is_registered(const nn::Module& m, const std::string& name) {
  return parameter_of(m, name) || child_of(m, name) != nullptr || buffer_of(m, name);
}

/// Removes a name from the lists of a module, if it is there. The attribute stays.
void forget(nb::handle self, nb::handle name) {
  if (!nb::inst_ready(self)) return;
  nn::Module& m = *nb::inst_ptr<nn::Module>(self);
  const std::string text = nb::cast<std::string>(name);
  if (!is_registered(m, text)) return;
  if (!kept_attribute(self, name).is_valid()) refuse(is_member, m, text);
  Registry::remove(m, text);
}

void setattr(nb::handle self, nb::handle name, nb::handle value) {
  if (is_property(self, name)) return set_attribute(self, name, value);
  if (nb::isinstance<nn::Module>(value)) return set_module(self, name, value);
  if (nb::isinstance<nn::Parameter>(value)) return set_parameter(self, name, value);
  if (nb::isinstance<nn::Buffer>(value)) return set_buffer(self, name, value);
  if (value.is_none()) {
    if (nb::inst_ready(self) && buffer_of(*nb::inst_ptr<nn::Module>(self), nb::cast<std::string>(name)))
      note_absent_buffer(self, name);
    forget(self, name);
  } else if (nb::inst_ready(self)) {
    const nn::Module& m = *nb::inst_ptr<nn::Module>(self);
    const std::string text = nb::cast<std::string>(name);
    if (nb::isinstance<Tensor>(value)) {
      const Tensor& tensor = nb::cast<const Tensor&>(value);
      if (auto buffer = buffer_of(m, text)) return assign_buffer(self, name, *buffer, tensor);
      if (is_absent_buffer(self, name)) return set_buffer(self, name, nb::cast(nn::Buffer(tensor.detach())));
    }
    const nb::object now = kept_attribute(self, name);
    if (now.is_valid() && (nb::isinstance<nn::Module>(now) || nb::isinstance<nn::Parameter>(now)) &&
        is_registered(m, text))
      refuse(takes_its_kind, m, text);
  }
  set_attribute(self, name, value);
}

void delattr(nb::handle self, nb::handle name) {
  if (is_property(self, name) && nb::inst_ready(self) &&
      parameter_of(*nb::inst_ptr<nn::Module>(self), nb::cast<std::string>(name)))
    return set_attribute(self, name, nb::none());
  forget(self, name);
  if (PyObject_GenericSetAttr(self.ptr(), name.ptr(), nullptr) != 0) throw nb::python_error();
}

/// Looks for children, parameters and buffers that are not attributes, because the library's C++ classes registered
/// them.
nb::object getattr(nb::handle self, const std::string& name) {
  if (nb::inst_ready(self) && name.compare(0, 2, "__") != 0) {
    const nn::Module& m = *nb::inst_ptr<nn::Module>(self);
    if (const Child child = child_of(m, name)) return nb::cast(child);
    if (const auto parameter = parameter_of(m, name)) return kept_object(self, name, *parameter);
    if (const auto buffer = buffer_of(m, name)) return nb::cast(seen_buffer(*buffer));
  }
  PyErr_Format(PyExc_AttributeError, "'%S' object has no attribute '%s'", self.type().attr("__name__").ptr(),
               name.c_str());
  throw nb::python_error();
}

/// The forward of a model of the library. A Python class without a forward has none, whatever the arguments are.
Tensor forward(nn::Module& m, const nb::args& args, const nb::kwargs& kwargs) {
  if (typeid(m) == typeid(Overridable<nn::Module>)) {
    PyErr_SetString(PyExc_NotImplementedError, (m.type_name() + " has no forward()").c_str());
    throw nb::python_error();
  }
  nb::object input;
  if (args.size() == 1 && kwargs.size() == 0) input = args[0];
  if (args.size() == 0 && kwargs.size() == 1 && kwargs.contains("input")) input = kwargs["input"];
  if (!input.is_valid() || !nb::isinstance<Tensor>(input)) throw nb::next_overload();
  const Tensor& x = nb::cast<const Tensor&>(input);
  return unlocked([&] { return m.forward(x); });
}

std::string extra_repr(const nn::Module& m) {
  return in_python(typeid(m) == typeid(Overridable<nn::Module>) ? m.Module::extra_repr() : m.extra_repr());
}

using NamedModules = std::vector<std::pair<std::string, nb::object>>;

/// A module and all modules below it, each once, with their paths.
NamedModules modules_of(nb::handle self) {
  nn::Module& root = registry_of(self);
  NamedModules all;
  for (const auto& [path, module] : root.named_modules()) {
    nb::object found = nb::borrow(self);
    for (std::size_t begin = 0; begin < path.size();) {
      const std::size_t end = std::min(path.find('.', begin), path.size());
      found = nb::cast(child_of(*nb::inst_ptr<nn::Module>(found), path.substr(begin, end - begin)));
      begin = end + 1;
    }
    all.emplace_back(path, std::move(found));
  }
  return all;
}

void bind_structure(ModuleClass& module) {
  module
      .def(
          "add_module",
          [](nb::handle self, nb::handle name, nb::handle value) {
            if (!nb::isinstance<nn::Module>(value)) throw nb::type_error("add_module() takes a Module");
            set_module(self, name, value);
          },
          "name"_a, "module"_a, "Registers a child under a name.")
      .def(
          "_named_children", [](const nn::Module& m) { return m.named_children(); }, "The children with their names.")
      .def(
          "_get_name", [](const nn::Module& m) { return m.type_name(); }, "The name of the class.")
      .def("_forget", &Registry::remove, "Removes a name from the lists.")
      .def("_note_absent_buffer", &note_absent_buffer, "Makes a later tensor of this name a buffer.")
      .def("_named_modules", &modules_of, "This module under \"\", and all modules below it under their paths.")
      .def(
          "train", [](nn::Module& m, bool mode) -> nn::Module& { return m.train(mode); }, "mode"_a = true, itself,
          nb::sig("def train(self, mode: bool = True) -> typing.Self"),
          "Switches the training mode of this module and of all modules below it. Returns this module.")
      .def(
          "eval", [](nn::Module& m) -> nn::Module& { return m.eval(); }, itself,
          nb::sig("def eval(self) -> typing.Self"), "Switches to evaluation: train(False). Returns this module.")
      .def_prop_rw("training", &nn::Module::training, &nn::Module::set_training,
                   "Whether the module is in training mode. An assignment changes the mode of this module alone.");
}

}  // namespace

SeenParameter seen_parameter(nb::handle self, const char* name, const nn::Parameter& member) {
  if (!member.defined()) return nb::none();
  if (member.is_leaf() && parameter_of(registry_of(self), name)) return kept_object(self, name, member);
  return nb::cast(Tensor(member));
}

void assign_parameter(nb::handle self, const char* name, nn::Parameter& member, nb::handle value) {
  nn::Module& m = registry_of(self);
  const bool is_parameter = nb::isinstance<nn::Parameter>(value), is_registered = parameter_of(m, name).has_value();
  if (!is_parameter && !value.is_none() && (is_registered || !nb::isinstance<Tensor>(value))) {
    PyErr_Format(PyExc_TypeError, "%s.%s takes Parameter, not a %S: nn.Parameter(x) makes one, and None removes it",
                 m.type_name().c_str(), name, value.type().attr("__name__").ptr());
    throw nb::python_error();
  }
  if (is_registered) {
    if (is_parameter) {
      const nn::Parameter& other = nb::cast<const nn::Parameter&>(value);
      if (nn::identity_of(member) == nn::identity_of(other)) return;
      tie_to(member, other);
      remember_object(other, value);
      kept_object(self, name, member);
      return;
    }
    if (m.handles() > 1)
      throw Error(ErrorCode::invalid_argument, "[Module] the " + m.type_name() +
                                                   " is a part of a model of the library, " +
                                                   "which computes with its " + name + "; so it stays a parameter");
    Registry::remove(m, name);
  }
  Tensor& shown = member;
  shown = value.is_none() ? Tensor() : Tensor(nb::cast<const Tensor&>(value));
  if (!is_parameter) return;
  Registry::add(m, name, member);
  remember_object(member, value);
}

nn::Module& registry_of(nb::handle self) {
  if (nb::inst_ready(self)) return *nb::inst_ptr<nn::Module>(self);
  PyErr_SetString(PyExc_AttributeError, "call super().__init__() before parameters, buffers and modules are assigned");
  throw nb::python_error();
}

PyObject* attributes_of(PyObject* self) {
  PyObject* dict = nullptr;
  const visitproc find = [](PyObject* object, void* place) {
    if (PyDict_Check(object)) *static_cast<PyObject**>(place) = object;
    return 0;
  };
  traverse_attributes(self, find, &dict);
  return dict;
}

PyType_Slot module_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(&traverse)}, {Py_tp_clear, reinterpret_cast<void*>(&clear)}, {0, nullptr}};

void bind_modules(nb::module_& extension) {
  nb::module_ m = extension.def_submodule("_nn", "The modules of the library.");
  ModuleClass module(m, "Module", nb::dynamic_attr(), nb::is_weak_referenceable(), nb::type_slots(module_slots),
                     "The base of all layers and models. A subclass assigns parameters, buffers and modules to "
                     "attributes in __init__, after super().__init__(), and defines forward().");
  module.def("__init__", [](nb::pointer_and_handle<nn::Module> self) { construct(self); })
      .def("__call__", &call_module, nb::sig("def __call__(self, *args, **kwargs) -> typing.Any"),
           "Calls the hooks and forward().")
      // Derived classes may take other arguments and give other results.
      .def("forward", &forward, nb::sig("def forward(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any"),
           "The output for the inputs. A subclass defines it.")
      .def("extra_repr", &extra_repr, "The settings of the layer for printing. A subclass may define it.")
      .def("__setattr__", &setattr, "name"_a, "value"_a.none())
      .def("__delattr__", &delattr)
      .def("__getattr__", &getattr);
  bind_structure(module);
  bind_tensors_of_modules(m, module);
  bind_hooks_of_modules(m, module);
  bind_layers(m);
  bind_norm_layers(m);
  bind_recurrent_layers(m);
  bind_containers(m);
  bind_models(m);
  bind_init(m);
  bind_quantized(extension, m);
}

}  // namespace crisol::python
