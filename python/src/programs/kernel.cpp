// Kernels in OpenCL C that a program provides.
#include <nanobind/stl/map.h>

#include "arguments.h"
#include "programs/topics.h"

namespace crisol::python {

namespace {

/// The value of a define as text: 16, 0.5 or "float".
std::string text_of(nb::handle value) { return nb::cast<std::string>(nb::str(value)); }

void make(Kernel* self, const std::string& source, const std::string& name, const std::optional<Shape>& group,
          const nb::dict& defines, const std::string& build_options) {
  KernelOptions options{group.value_or(Shape()), {}, build_options};
  for (const auto& [key, value] : defines) options.defines.emplace_back(nb::cast<std::string>(key), text_of(value));
  new (self) Kernel(source, name, options);
}

}  // namespace

void bind_kernel(nb::module_& m) {
  nb::class_<Kernel>(m, "Kernel",
                     "A kernel of your own, in OpenCL C 1.2: Kernel(source, name). It is compiled at its first call "
                     "on a device. It has no gradient; autograd.Function can give it one.")
      .def("__init__", &make, "source"_a, "name"_a, nb::kw_only(), "group"_a = nb::none(), "defines"_a = nb::dict(),
           "build_options"_a = "")
      .def_prop_ro("name", &Kernel::name, "The name of the kernel in the source.")
      .def(
          "__call__",
          [](const Kernel& self, const Shape& range, const nb::args& arguments) {
            std::vector<Operand> operands;
            for (const nb::handle argument : arguments) operands.push_back(nb::cast<Operand>(argument));
            unlocked([&] { self.run(range, operands); });
          },
          "range"_a, "arguments"_a,
          nb::sig("def __call__(self, range: int | tuple[int, ...], *arguments: Tensor | float) -> None"),
          "Queues the kernel with one work-item for each point of range (one to three sizes). There is one argument "
          "for each parameter of the kernel: contiguous tensors and numbers.");
}

}  // namespace crisol::python
