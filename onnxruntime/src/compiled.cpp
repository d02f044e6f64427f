#include "compiled.h"

#include <algorithm>
#include <optional>
#include <span>

#include "base/element_number.h"
#include "crisol/grad_mode.h"
#include "crisol/opencl_interop.h"
#include "crisol/tensor.h"
#include "device_memory.h"
#include "graph_parts.h"

namespace crisol::ort {

namespace {

/// A tensor over memory of ONNX Runtime if the device computes there and if kernels take the address. Otherwise
/// undefined.
Tensor shared(void* memory, const Shape& shape, DType dtype, Device device) {
  constexpr std::uintptr_t alignment = 16;
  const bool is_aligned = shape.numel() > 0 && reinterpret_cast<std::uintptr_t>(memory) % alignment == 0;
  return is_aligned ? from_host_memory(memory, shape, dtype, device) : Tensor();
}

/// An input in the memory where it is, if the device computes there. Otherwise a copy.
Tensor tensor_of(const OrtValue* value, Device device) {
  const Layout layout = layout_of(value);
  const std::optional<DType> dtype = dtype_of_onnx_element(layout.type);
  if (!dtype)
    throw RuntimeError("[crisol] an input has the element type " + std::to_string(layout.type) +
                       " of ONNX, which is not supported");
  const Shape shape(layout.sizes);
  if (is_on_device(value)) return tensor_on_device(value, shape, *dtype).to(device);
  const Tensor in_place = shared(data_of(value), shape, *dtype, device);
  return in_place.defined() ? in_place : from_bytes(data_of(value), shape, *dtype, device);
}

OrtValue* output_of(OrtKernelContext* context, std::size_t index, const Shape& shape) {
  const std::vector<std::int64_t> sizes(shape.begin(), shape.end());
  OrtValue* value = nullptr;
  check(api().KernelContext_GetOutput(context, index, sizes.data(), sizes.size(), &value));
  return value;
}

/// Puts an output where ONNX Runtime wants it. The output may be there already.
void give(OrtValue* value, const Tensor& output) {
  if (output.numel() == 0) return;
  if (!is_on_device(value)) {
    output.read_bytes(data_of(value));  // Waits. Copies nothing if the output is there.
    return;
  }
  Tensor target = tensor_on_device(value, output.shape(), output.dtype());
  if (opencl_buffer(target).memory != opencl_buffer(output).memory) target.copy_from(output);
}

/// Whether a copy of an output on a CPU takes less time than a buffer over ONNX Runtime's memory.
bool is_copied_sooner(const Shape& shape, DType dtype, Device device) {
  constexpr std::uint64_t most = 4096;
  return !has_own_memory(device) && static_cast<std::uint64_t>(shape.numel()) * size_of(dtype) <= most;
}

/// The bytes of a tensor.
std::span<const std::byte> bytes_of(const void* memory, const Shape& shape, DType dtype) {
  return {static_cast<const std::byte*>(memory), static_cast<std::size_t>(shape.numel()) * size_of(dtype)};
}

/// Whether the bytes are also in one of the inputs. A program may bind one memory to an input and to an output.
bool meets_an_input(std::span<const std::byte> bytes, const std::vector<std::span<const std::byte>>& inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [&](std::span<const std::byte> input) {
    return input.data() < bytes.data() + bytes.size() && bytes.data() < input.data() + input.size();
  });
}

}  // namespace

Compiled::Compiled(onnx::Model model, const OrtNode* fused, std::vector<std::string> inputs,
                   std::vector<std::string> outputs, Options options)
    : OrtNodeComputeInfo{},
      options_(std::move(options)),
      model_(std::move(model)),
      inputs_(std::move(inputs)),
      outputs_(std::move(outputs)) {
  const std::vector<const OrtValueInfo*> values = inputs_of(fused);
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    if (!inputs_[i].empty()) other_sizes_.add_input(inputs_[i], values.at(i));
  version = api_version;
  CreateState = [](OrtNodeComputeInfo* self, OrtNodeComputeContext*, void** state) -> OrtStatus* {
    *state = self;
    return nullptr;
  };
  Compute = [](OrtNodeComputeInfo* self, void*, OrtKernelContext* context) {
    return guarded([&] { static_cast<Compiled*>(self)->run(context); });
  };
  ReleaseState = [](OrtNodeComputeInfo*, void*) {};
}

void Compiled::run(OrtKernelContext* context) {
  const auto start = OtherSizes::Clock::now();
  const NoGrad no_grad;
  const WithPrecision precision(options_.precision);
  NamedTensors inputs;
  std::vector<std::span<const std::byte>> input_bytes;
  inputs.reserve(inputs_.size());
  input_bytes.reserve(inputs_.size());
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].empty()) continue;
    const auto* value =
        get<const OrtValue*>(api().KernelContext_GetInput, static_cast<const OrtKernelContext*>(context), i);
    if (value == nullptr) continue;
    const Tensor& input = inputs.emplace_back(inputs_[i], tensor_of(value, options_.device)).second;
    input_bytes.push_back(bytes_of(data_of(value), input.shape(), input.dtype()));
  }
  std::vector<OrtValue*> values(outputs_.size());
  const auto output_memory = [&](const std::string& name, const Shape& shape, DType dtype) {
    const auto index = static_cast<std::size_t>(std::find(outputs_.begin(), outputs_.end(), name) - outputs_.begin());
    if (index == outputs_.size() || is_copied_sooner(shape, dtype, options_.device)) return Tensor();
    const OrtValue* value = values[index] = output_of(context, index, shape);
    if (meets_an_input(bytes_of(data_of(value), shape, dtype), input_bytes)) return Tensor();
    if (!is_on_device(value)) return shared(data_of(value), shape, dtype, options_.device);
    const Tensor place = tensor_on_device(value, shape, dtype);
    return place.device() == options_.device ? place : Tensor();
  };
  try {
    const onnx::Outputs results = model_(inputs, output_memory);
    std::vector<Tensor> outputs(outputs_.size());
    // ONNX Runtime allocates while the device computes. Then the first output waits for the device.
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i].empty()) continue;
      outputs[i] = results[outputs_[i]];
      if (values[i] == nullptr) values[i] = output_of(context, i, outputs[i].shape());
    }
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      if (outputs[i].defined()) give(values[i], outputs[i]);
  } catch (...) {
    options_.device.synchronize();  // ONNX Runtime may release its memory.
    throw;
  }
  other_sizes_.after_run(model_, inputs, start);
}

}  // namespace crisol::ort
