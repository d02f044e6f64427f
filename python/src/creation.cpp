// Functions that make tensors of given values.
#include "arguments.h"
#include "bindings.h"

namespace crisol::python {

namespace {

using OptionalType = std::optional<DType>;
using OptionalDevice = std::optional<Device>;

Device or_default(const OptionalDevice& device) { return device ? *device : Device(); }

}  // namespace

void bind_creation(nb::module_& m) {
  m.def(
      "empty",
      [](const Shape& shape, OptionalType dtype, const OptionalDevice& device) {
        return empty(shape, dtype.value_or(DType::f32), or_default(device));
      },
      "shape"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), Unlocked(),
      "A tensor with undefined contents.");
  m.def(
      "ones",
      [](const Shape& shape, OptionalType dtype, const OptionalDevice& device) {
        return ones(shape, dtype.value_or(DType::f32), or_default(device));
      },
      "shape"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), Unlocked(), "A tensor of ones.");
}

}  // namespace crisol::python
