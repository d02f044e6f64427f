// The exchange with PyTorch's device "crisol" (the package torch_crisol). A tensor there is a Tensor of the library, so
// both sides share storage, offset, sizes and strides.
#include "bindings.h"
#include "tensor/dlpack.h"

namespace crisol::python {

namespace {

/// The name of capsules that hold a Tensor. torch_crisol uses the same name.
constexpr const char* capsule_name = "crisol.Tensor";

nb::object torch_device() { return nb::module_::import_("torch_crisol").attr("_device"); }

}  // namespace

bool is_on_torch_device(nb::handle object) {
  const nb::object device = nb::getattr(object, "device", nb::none());
  const nb::object type = nb::getattr(device, "type", nb::none());
  return nb::isinstance<nb::str>(type) && nb::cast<std::string>(type) == "crisol" && nb::hasattr(object, "data_ptr");
}

Tensor from_torch(nb::handle x) {
  const nb::object capsule = torch_device().attr("share")(x);
  return *static_cast<const Tensor*>(nb::cast<nb::capsule>(capsule).data(capsule_name));
}

nb::object to_torch(const Tensor& x) {
  if (x.requires_grad()) dlpack::refuse("a tensor that wants a gradient cannot go to PyTorch: x.detach() can");
  const nb::capsule capsule(new Tensor(x), capsule_name,
                            [](void* tensor) noexcept { delete static_cast<Tensor*>(tensor); });
  return torch_device().attr("adopt")(capsule);
}

void bind_torch(nb::module_& m) {
  m.def(
      "from_torch",
      [](nb::handle x) -> nb::object {
        if (is_on_torch_device(x)) return nb::cast(from_torch(x));
        return nb::module_::import_("crisol._crisol").attr("from_dlpack")(x);
      },
      "x"_a,
      "A tensor of the elements of a tensor of PyTorch. It shares the memory of a tensor on PyTorch's device "
      "\"crisol\", with its strides. Writes of one side are seen by the other. Tensors of other devices go through "
      "from_dlpack().");
  m.def("to_torch", &to_torch, "x"_a,
        "A tensor of PyTorch over the memory of a tensor, on the same device: crisol:0, crisol:1 and so on. Needs the "
        "package torch_crisol. A tensor that wants a gradient must be detached.");
}

}  // namespace crisol::python
