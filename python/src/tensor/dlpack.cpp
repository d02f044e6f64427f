// Exports arrays to other libraries by DLPack. dlpack_import.cpp imports their arrays.
#include "tensor/dlpack.h"

#include <CL/cl.h>

#include <memory>

#include "arguments.h"
#include "bindings.h"
#include "crisol/opencl_interop.h"
#include "tensor/host.h"

namespace crisol::python {

namespace {

/// The objects that an exported array needs until its user gives it back.
struct Export {
  std::variant<dlpack::Managed, dlpack::Versioned> managed;
  Tensor tensor;
  std::vector<unsigned char> bytes;  ///< The copy on the host, if the array is a copy.
  void* mapped = nullptr;            ///< The device's memory as the host sees it, if the memory is shared.
  cl_mem memory = nullptr;
  Shape shape, strides;

  Export() = default;
  Export(const Export&) = delete;
  Export& operator=(const Export&) = delete;
  ~Export() {
    if (mapped != nullptr) clEnqueueUnmapMemObject(opencl_queue(tensor.device()), memory, mapped, 0, nullptr, nullptr);
  }
};

template <class Struct>
void destroy(Struct* self) {
  delete static_cast<Export*>(self->context);
}

/// The default device: the host for a tensor of a CPU, and OpenCL for other tensors.
dlpack::Device device_of(const Tensor& x) {
  if (x.device().info().type == DeviceType::cpu) return {dlpack::cpu, 0};
  return {dlpack::opencl, x.device().index()};
}

void copy_to_host(Export& target) {
  const Tensor& x = target.tensor;
  target.bytes.resize(static_cast<std::size_t>(x.numel()) * size_of(x.dtype()));
  read_elements(x, target.bytes.data());
  target.shape = target.strides = x.shape();
  std::int64_t stride = 1;
  for (int axis = x.dim() - 1; axis >= 0; --axis) {
    target.strides[axis] = stride;
    stride *= x.shape()[axis];
  }
}

/// The bytes from a tensor's first element to its last element.
std::size_t span_of(const Tensor& x) {
  std::int64_t last = 0;
  for (int axis = 0; axis < x.dim(); ++axis) last += (x.shape()[axis] - 1) * x.strides()[axis];
  return static_cast<std::size_t>(last + 1) * size_of(x.dtype());
}

/// Gives the host access to the memory of a device that uses the host's memory. Waits for the queued work.
void map_to_host(Export& target) {
  const Tensor& x = target.tensor;
  if (!x.device().info().unified_memory || x.device().info().type != DeviceType::cpu)
    dlpack::refuse("copy=False, but the memory of " + x.device().name() + " is not the host's");
  target.shape = x.shape();
  target.strides = x.strides();
  if (x.numel() == 0) return;
  wait_ahead(x.device());
  const OpenclBuffer buffer = opencl_buffer_for_writing(x);
  cl_int error = CL_SUCCESS;
  target.memory = buffer.memory;
  target.mapped = unlocked([&] {
    return clEnqueueMapBuffer(opencl_queue(x.device()), buffer.memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                              buffer.offset, span_of(x), 0, nullptr, nullptr, &error);
  });
  if (error != CL_SUCCESS) dlpack::refuse("the driver cannot map the memory: error " + std::to_string(error));
}

dlpack::Array array_of(Export& source, bool as_buffer) {
  const Tensor& x = source.tensor;
  dlpack::Array array{};
  array.rank = x.dim();
  array.type = dlpack::type_of(x.dtype());
  array.shape = const_cast<std::int64_t*>(source.shape.begin());
  array.strides = const_cast<std::int64_t*>(source.strides.begin());
  if (as_buffer) {
    const OpenclBuffer buffer = opencl_buffer_for_writing(x);
    array.data = buffer.memory;
    array.byte_offset = buffer.offset;
    array.device = {dlpack::opencl, x.device().index()};
  } else {
    array.data = source.mapped != nullptr ? source.mapped : source.bytes.data();
    array.device = {dlpack::cpu, 0};
  }
  return array;
}

void drop_unused(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor") != 0) {
    auto* managed = static_cast<dlpack::Managed*>(PyCapsule_GetPointer(capsule, "dltensor"));
    managed->deleter(managed);
  } else if (PyCapsule_IsValid(capsule, "dltensor_versioned") != 0) {
    auto* managed = static_cast<dlpack::Versioned*>(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
    managed->deleter(managed);
  }
}

using Pair = std::pair<int, int>;

nb::object to_dlpack(const Tensor& x, nb::handle, const std::optional<Pair>& max_version,
                     const std::optional<Pair>& dl_device, const std::optional<bool>& copy) {
  if (is_recorded(x)) dlpack::refuse("the tensor requires grad: use x.detach()");
  if (dl_device && dl_device->first == dlpack::extension) {
    const nb::object own = to_torch(copy == true ? x.clone() : x.detach());
    if (nb::cast<int>(own.attr("device").attr("index")) != dl_device->second)
      dlpack::refuse("a tensor on " + x.device().name() +
                     " is not on PyTorch's device crisol:" + std::to_string(dl_device->second));
    return max_version ? own.attr("__dlpack__")("max_version"_a = *max_version) : own.attr("__dlpack__")();
  }
  const dlpack::Device own = device_of(x);
  const Pair wanted = dl_device.value_or(Pair(own.type, own.id));
  const bool as_buffer = wanted.first == dlpack::opencl;
  if (as_buffer ? wanted.second != x.device().index() : wanted != Pair(dlpack::cpu, 0))
    dlpack::refuse("a tensor on " + x.device().name() + " can go to the host (1, 0) or stay as OpenCL memory (4, " +
                   std::to_string(x.device().index()) + ")");
  auto exported = std::make_unique<Export>();
  exported->tensor = copy == true && as_buffer ? x.clone() : x;
  if (as_buffer) {
    exported->shape = exported->tensor.shape();
    exported->strides = exported->tensor.strides();
  } else if (copy == false) {
    map_to_host(*exported);
  } else {
    copy_to_host(*exported);
  }
  const dlpack::Array array = array_of(*exported, as_buffer);
  PyObject* capsule = nullptr;
  if (max_version && max_version->first >= 1) {
    const std::uint64_t flags = exported->bytes.empty() ? 0 : dlpack::is_copied;
    exported->managed = dlpack::Versioned{{1, 0}, exported.get(), &destroy<dlpack::Versioned>, flags, array};
    capsule = PyCapsule_New(&std::get<dlpack::Versioned>(exported->managed), "dltensor_versioned", &drop_unused);
  } else {
    exported->managed = dlpack::Managed{array, exported.get(), &destroy<dlpack::Managed>};
    capsule = PyCapsule_New(&std::get<dlpack::Managed>(exported->managed), "dltensor", &drop_unused);
  }
  if (capsule == nullptr) throw nb::python_error();
  static_cast<void>(exported.release());
  return nb::steal(capsule);
}

}  // namespace

void bind_dlpack(nb::module_& m, TensorClass& tensor) {
  tensor
      .def(
          "__dlpack__", &to_dlpack, nb::kw_only(), "stream"_a = nb::none(), "max_version"_a = nb::none(),
          "dl_device"_a = nb::none(), "copy"_a = nb::none(),
          "A DLPack capsule. The elements go to host memory (1, 0) as a copy, or with copy=False without one where the "
          "device's memory is the host's. dl_device=(4, index) gives the OpenCL buffer. dl_device=(12, index) gives "
          "the memory as a tensor of PyTorch's device crisol:index.")
      .def(
          "__dlpack_device__",
          [](const Tensor& x) {
            const dlpack::Device device = device_of(x);
            return Pair(device.type, device.id);
          },
          "(1, 0) for a CPU, otherwise (4, index): OpenCL memory.");
  bind_from_dlpack(m);
  bind_torch(m);
}

}  // namespace crisol::python
