#include "compiled.h"

#include <optional>

#include "base/element_number.h"
#include "crisol/grad_mode.h"
#include "crisol/tensor.h"
#include "graph_parts.h"

namespace crisol::ort {

namespace {

onnx::Model model_of(const OrtGraph* graph, Device device) {
  GraphReader reader(graph);
  return onnx::load(std::move(reader).take(), device);
}

/// Copies an input to the device.
Tensor tensor_of(const OrtValue* value, Device device) {
  const Layout layout = layout_of(value);
  const std::optional<DType> dtype = dtype_of_onnx_element(layout.type);
  if (!dtype)
    throw RuntimeError("[crisol] an input has the element type " + std::to_string(layout.type) +
                       " of ONNX, which is not supported");
  return from_bytes(data_of(value), Shape(layout.sizes), *dtype, device);
}

/// Copies an output into the memory that ONNX Runtime has for it.
void give(OrtKernelContext* context, std::size_t index, const Tensor& tensor) {
  const std::vector<std::int64_t> sizes(tensor.shape().begin(), tensor.shape().end());
  OrtValue* value = nullptr;
  check(api().KernelContext_GetOutput(context, index, sizes.data(), sizes.size(), &value));
  if (tensor.numel() > 0) tensor.read_bytes(data_of(value));
}

}  // namespace

Compiled::Compiled(const OrtGraph* graph, const OrtNode* fused, Options options)
    : OrtNodeComputeInfo{}, options_(options), model_(model_of(graph, options.device)) {
  for (const OrtValueInfo* value : inputs_of(fused)) {
    inputs_.push_back(is_constant(value) ? "" : name_of(value));
    if (!inputs_.back().empty()) other_sizes_.add_input(value);
  }
  for (const OrtValueInfo* value : outputs_of(fused)) outputs_.push_back(name_of(value));
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
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].empty()) continue;
    const auto* value =
        get<const OrtValue*>(api().KernelContext_GetInput, static_cast<const OrtKernelContext*>(context), i);
    if (value != nullptr) inputs.emplace_back(inputs_[i], tensor_of(value, options_.device));
  }
  const onnx::Outputs outputs = model_(inputs);
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (!outputs_[i].empty()) give(context, i, outputs[outputs_[i]]);
  other_sizes_.after_run(model_, inputs, OtherSizes::Clock::now() - start);
}

}  // namespace crisol::ort
