// The parameters and buffers of modules, their states, and hooks.
#include "arguments.h"
#include "crisol/nn/identity.h"
#include "crisol/opencl_interop.h"
#include "nn/module.h"

namespace crisol::python {

namespace {

using NamedParameters = nb::typed<nb::list, std::pair<std::string, nn::Parameter>>;

NamedParameters named_parameters(nb::handle self) {
  const nn::Module& m = registry_of(self);
  nb::list all;
  for (const auto& [name, tensor] : m.named_parameters())
    all.append(nb::make_tuple(name, kept_object(self, name, m.parameter(name))));
  return all;
}

std::vector<std::pair<std::string, nn::Buffer>> named_buffers(const nn::Module& m) {
  std::vector<std::pair<std::string, nn::Buffer>> all;
  for (const auto& [name, tensor] : m.named_buffers()) all.emplace_back(name, seen_buffer(m.buffer(name)));
  return all;
}

/// An object for the state that all handles of a tensor share.
nb::object place_of_tensor(const Tensor& x) {
  const OpenclBuffer buffer = opencl_buffer(x);
  return nb::make_tuple(reinterpret_cast<std::uintptr_t>(buffer.memory), buffer.offset);
}

}  // namespace

void keep_arguments(nb::handle self, PyObject** arguments, std::size_t count, std::size_t device) {
  nb::list kept;
  for (std::size_t i = 0; i < count; ++i)
    if (i != device && i != device + 1) kept.append(nb::handle(arguments[i]));
  nb::cast<nb::dict>(self.attr("__dict__"))["_arguments"] = nb::tuple(kept);
}

void move_layer(nb::handle self, nb::handle device, nb::handle dtype) {
  DType wanted = DType::f32;
  if (!dtype.is_none() && !nb::try_cast(dtype, wanted))
    throw Error(ErrorCode::invalid_argument, "[to] no tensor has dtype " + std::string(nb::repr(dtype).c_str()));
  if (!dtype.is_none()) nb::inst_ptr<nn::Module>(self)->to(wanted);
  if (!device.is_none()) nb::inst_ptr<nn::Module>(self)->to(nb::cast<Device>(device));
}

void bind_tensors_of_modules(nb::module_& m, ModuleClass& module) {
  m.def("_place", &place_of_tensor);
  m.def("_replace_elements", &nn::replace_elements, Unlocked());
  m.def("_take_elements", &nn::take_elements, Unlocked());
  m.def("_assign", [](nn::Parameter& parameter, const Tensor& value) { unlocked([&] { parameter = value; }); });
  nb::class_<nn::Parameter, Tensor>(m, "Parameter", nb::type_slots(tensor_slots),
                                    "A tensor that a module trains. As an attribute of a module it is registered "
                                    "under the attribute's name. All its handles are the same parameter.")
      .def(
          "__init__",
          [](nb::pointer_and_handle<nn::Parameter> self, const Tensor& data, bool requires_grad) {
            remember_object(*new (static_cast<void*>(self.p)) nn::Parameter(data.detach(), requires_grad), self.h);
          },
          "data"_a, "requires_grad"_a = true, "A parameter over the memory of a tensor, which itself stays as it is.")
      .def("__deepcopy__", [](const nn::Parameter& p, nb::handle) {
        return unlocked([&] { return nn::Parameter(p.detach().clone(), p.requires_grad()); });
      });
  nb::class_<nn::Buffer, Tensor>(m, "Buffer", nb::type_slots(tensor_slots),
                                 "A tensor that belongs to the state of a module and is not trained. As an attribute "
                                 "of a module it is registered under the attribute's name.")
      .def(
          "__init__", [](nn::Buffer* self, const Tensor& data) { new (self) nn::Buffer(data.detach()); }, "data"_a,
          "A buffer over the memory of a tensor.")
      .def("__deepcopy__",
           [](const nn::Buffer& b, nb::handle) { return unlocked([&] { return nn::Buffer(b.detach().clone()); }); });
  module
      .def("_named_parameters", &named_parameters,
           "The parameters of this module and of all modules below it, with their names. Each is listed once.")
      .def("_named_buffers", &named_buffers, "The buffers, with names as in named_parameters().")
      .def("parameter_count", &nn::Module::parameter_count, "The number of elements of all parameters.")
      .def(
          "get_parameter",
          [](nb::handle self, const std::string& name) -> nb::typed<nb::object, nn::Parameter> {
            return kept_object(self, name, registry_of(self).parameter(name));
          },
          "target"_a, "The parameter of this name, such as \"features.0.weight\".")
      .def(
          "get_buffer", [](const nn::Module& self, const std::string& name) { return seen_buffer(self.buffer(name)); },
          "target"_a, "The buffer of this name, such as \"bn.running_mean\".")
      .def(
          "_state_dict", [](const nn::Module& self) { return self.state_dict(); }, Unlocked(),
          "Parameters and buffers by name, outside the graph but over the same memory.")
      .def(
          "_load_state_dict",
          [](nn::Module& self, const NamedTensors& state, bool strict) {
            const nn::StateDifference d = unlocked([&] { return self.load_state_dict(state, {strict}); });
            return nb::make_tuple(d.missing, d.unexpected);
          },
          "state_dict"_a, "strict"_a = true)
      .def(
          "_to_dtype", [](nn::Module& self, DType dtype) -> nn::Module& { return self.to(dtype); }, "dtype"_a,
          Unlocked(), itself)
      .def(
          "to", [](nn::Module& self, Device device) -> nn::Module& { return self.to(device); }, "device"_a, Unlocked(),
          itself, nb::sig("def to(self, device: device) -> typing.Self"),
          "Moves parameters, their gradients and buffers to a device. Views, detach() and state_dict() that were taken "
          "before keep the old memory. Make the optimiser after this call. Returns this module.")
      .def(
          "zero_grad", [](nn::Module& self, bool set_to_none) { self.zero_grad(set_to_none); }, "set_to_none"_a = true,
          Unlocked(),
          "Discards the gradients of all parameters. With set_to_none=False they stay the same tensors and become "
          "zeros.");
}

}  // namespace crisol::python
