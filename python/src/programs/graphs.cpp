// Modules as graphs, and captured work.
#include <nanobind/stl/shared_ptr.h>

#include "arguments.h"
#include "callback.h"
#include "crisol/captured_function.h"
#include "nn/module.h"
#include "programs/topics.h"

namespace crisol::python {

namespace {

CapturedGraph captured(nb::callable work, const std::optional<Device>& device) {
  return unlocked([&] { return capture([&] { with_python([&] { work(); }); }, or_default(device)); });
}

}  // namespace

void bind_graphs(nb::module_& m) {
  nb::class_<Compiled, nn::Module>(m, "Compiled", nb::dynamic_attr(), nb::is_weak_referenceable(),
                                   nb::type_slots(module_slots),
                                   "A module that computes the same as another one, its child \"module\"; see "
                                   "compile().")
      .def("forward", &Compiled::forward, "x"_a, Unlocked(), "The output for one input.")
      .def_prop_ro("programs", &Compiled::programs,
                   "How many programs were made so far. A call that makes none takes less time.");
  m.def(
      "compile",
      [](const std::shared_ptr<nn::Module>& module, const Tensor& example) { return compile(module, example); },
      "module"_a, "example"_a, Unlocked(),
      "A module that runs as a graph in evaluation, which takes less time: `fast = crisol.compile(net.eval(), x)`. It "
      "fixes branches of the module's code as the example takes them. Other batch sizes (axis 0) work too. The graph "
      "updates the buffers that the module writes in place, such as a cache of keys and values.");
  nb::class_<CapturedGraph>(m, "CapturedGraph", "Work on a device that was captured once; see capture().")
      .def("replay", &CapturedGraph::replay, Unlocked(),
           "Queues the commands once more. They read and write the same tensors as before.")
      .def("__len__", &CapturedGraph::size, "The number of commands.")
      .def_prop_ro("in_command_buffer", &CapturedGraph::in_command_buffer, "Whether one call queues all commands.");
  m.def("capture", &captured, "work"_a, "device"_a = nb::none(),
        "Calls work() once and captures the commands that it queues on a device. replay() repeats them for a fraction "
        "of the host's time. Run the work once before, so that kernels are compiled.");
  m.def("_is_capturing", &detail::is_capturing);
}

}  // namespace crisol::python
