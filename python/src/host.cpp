// Elements to the host and from it.
#include "arguments.h"
#include "bindings.h"

namespace crisol::python {

void bind_host(nb::module_& m, TensorClass& tensor) {
  (void)m;
  tensor.def(
      "item",
      [](const Tensor& x) -> nb::object {
        if (is_floating(x.dtype())) return nb::cast(unlocked([&] { return x.item<double>(); }));
        const std::int64_t value = unlocked([&] { return x.item<std::int64_t>(); });
        return x.dtype() == DType::boolean ? nb::object(nb::cast(value != 0)) : nb::object(nb::cast(value));
      },
      "The value of a tensor with one element. Waits.");
}

}  // namespace crisol::python
