// ONNX files.
#include "crisol/onnx.h"

#include "base/per_thread.h"
#include "c_api/handles.h"

using namespace crisol;
using namespace crisol::c_api;

namespace {

/// The text of the last crisol_onnx_info in this thread.
struct LastInfo {
  std::string json;
};

}  // namespace

crisol_status crisol_onnx_info(const char* path, const char** json) {
  constexpr const char* op = "onnx_info";
  return guarded([&] {
    need(path, op, "path");
    const char*& place = need(json, op, "json");
    std::string& text = per_thread<LastInfo>().json;
    text = onnx::to_json(onnx::read_info(path));
    place = text.c_str();
  });
}

crisol_status crisol_onnx_load(const char* path, crisol_device device, crisol_model** result) {
  constexpr const char* op = "onnx_load";
  return guarded([&] {
    need(path, op, "path");
    crisol_model*& place = need(result, op, "result");
    auto model = std::make_unique<onnx::Model>(onnx::load(path, device_of(device, op)));
    NamedTensors parameters = model->named_parameters();
    const crisol_model::Copy copy = [](const nn::Module& module) -> std::unique_ptr<nn::Module> {
      return std::make_unique<onnx::Model>(nn::clone(static_cast<const onnx::Model&>(module)));
    };
    place = new crisol_model{std::move(model), std::move(parameters), copy, {}};
  });
}

crisol_status crisol_onnx_run(const crisol_model* model, int input_count, const char* const* input_names,
                              const crisol_tensor* const* inputs, int output_count, const char* const* output_names,
                              crisol_tensor** results) {
  constexpr const char* op = "onnx_run";
  return guarded([&] {
    const auto* own = dynamic_cast<const onnx::Model*>(need(model, op, "model").module.get());
    require(own != nullptr, op, "the model does not come from an ONNX file");
    require(output_count >= 0, op, "output_count is ", output_count);
    const std::vector<Tensor> values = tensors_of(inputs, input_count, op, "inputs");
    NamedTensors named;
    for (std::size_t i = 0; i < values.size(); ++i)
      named.emplace_back(&need((&need(input_names, op, "input_names"))[i], op, "a name"), values[i]);
    const onnx::Outputs outputs = (*own)(named);
    std::vector<std::unique_ptr<crisol_tensor>> made;
    for (int i = 0; i < output_count; ++i)
      made.push_back(std::make_unique<crisol_tensor>(
          crisol_tensor{outputs[&need((&need(output_names, op, "output_names"))[i], op, "a name")]}));
    if (output_count > 0) need(results, op, "results");
    for (std::size_t i = 0; i < made.size(); ++i) results[i] = made[i].release();
  });
}

crisol_status crisol_onnx_save(crisol_model* model, const char* path, const crisol_tensor* example,
                               const char* input_name, const char* output_name) {
  constexpr const char* op = "onnx_save";
  return guarded([&] {
    onnx::SaveOptions options;
    if (input_name != nullptr) options.inputs = {input_name};
    if (output_name != nullptr) options.outputs = {output_name};
    need(path, op, "path");
    onnx::save(path, *need(model, op, "model").module, {need(example, op, "example").value}, options);
  });
}
