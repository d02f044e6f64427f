// ONNX files.
#include "crisol/onnx.h"

#include "base/per_thread.h"
#include "c_api/handles.h"

using namespace crisol;
using namespace crisol::c_api;

namespace {

/// The text that this thread got last.
struct LastText {
  std::string text;
};

void give_text(const char** result, const char* op, const char* name, std::string text) {
  const char*& place = need(result, op, name);
  std::string& kept = per_thread<LastText>().text;
  kept = std::move(text);
  place = kept.c_str();
}

const onnx::Model& model_of(const crisol_model* model, const char* op) {
  const auto* own = dynamic_cast<const onnx::Model*>(need(model, op, "model").module.get());
  require(own != nullptr, op, "the model does not come from an ONNX file");
  return *own;
}

NamedTensors named_inputs(int count, const char* const* names, const crisol_tensor* const* inputs, const char* op) {
  const std::vector<Tensor> values = tensors_of(inputs, count, op, "inputs");
  NamedTensors named;
  for (std::size_t i = 0; i < values.size(); ++i)
    named.emplace_back(&need((&need(names, op, "input_names"))[i], op, "a name"), values[i]);
  return named;
}

const std::vector<onnx::ValueInfo>& values_of(const crisol_model* model, crisol_onnx_kind kind, const char* op) {
  require(kind == CRISOL_ONNX_INPUT || kind == CRISOL_ONNX_OUTPUT, op, "kind is ", static_cast<int>(kind));
  return kind == CRISOL_ONNX_INPUT ? model_of(model, op).inputs() : model_of(model, op).outputs();
}

template <class T>
const T& item_of(const std::vector<T>& list, std::int32_t index, const char* op, const char* what) {
  require(index >= 0 && static_cast<std::size_t>(index) < list.size(), op, what, ' ', index, " of ", list.size());
  return list[static_cast<std::size_t>(index)];
}

}  // namespace

crisol_status crisol_onnx_info(const char* path, const char** json) {
  constexpr const char* op = "onnx_info";
  return guarded([&] {
    need(path, op, "path");
    give_text(json, op, "json", onnx::to_json(onnx::read_info(path)));
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
    const onnx::Model& own = model_of(model, op);
    require(output_count >= 0, op, "output_count is ", output_count);
    const onnx::Outputs outputs = own(named_inputs(input_count, input_names, inputs, op));
    std::vector<std::unique_ptr<crisol_tensor>> made;
    for (int i = 0; i < output_count; ++i)
      made.push_back(std::make_unique<crisol_tensor>(
          crisol_tensor{outputs[&need((&need(output_names, op, "output_names"))[i], op, "a name")]}));
    if (output_count > 0) need(results, op, "results");
    for (std::size_t i = 0; i < made.size(); ++i) results[i] = made[i].release();
  });
}

crisol_status crisol_onnx_run_all(const crisol_model* model, int input_count, const char* const* input_names,
                                  const crisol_tensor* const* inputs, crisol_named_tensors** result) {
  constexpr const char* op = "onnx_run_all";
  return give(result, op, [&] {
    const onnx::Model& own = model_of(model, op);
    return own(named_inputs(input_count, input_names, inputs, op)).tensors();
  });
}

crisol_status crisol_onnx_value_count(const crisol_model* model, crisol_onnx_kind kind, int32_t* count) {
  constexpr const char* op = "onnx_value_count";
  return guarded([&] { need(count, op, "count") = static_cast<int32_t>(values_of(model, kind, op).size()); });
}

crisol_status crisol_onnx_value(const crisol_model* model, crisol_onnx_kind kind, int32_t index, const char** name,
                                const char** type, int32_t* rank) {
  constexpr const char* op = "onnx_value";
  return guarded([&] {
    const onnx::ValueInfo& value = item_of(values_of(model, kind, op), index, op, "value");
    if (name != nullptr) *name = value.name.c_str();
    if (type != nullptr) *type = value.type.c_str();
    if (rank != nullptr) *rank = value.has_shape ? static_cast<int32_t>(value.shape.size()) : -1;
  });
}

crisol_status crisol_onnx_value_size(const crisol_model* model, crisol_onnx_kind kind, int32_t index, int32_t axis,
                                     int64_t* size, const char** name) {
  constexpr const char* op = "onnx_value_size";
  return guarded([&] {
    const onnx::ValueInfo& value = item_of(values_of(model, kind, op), index, op, "value");
    const onnx::Dimension& dimension = item_of(value.shape, axis, op, "axis");
    if (size != nullptr) *size = dimension.size;
    if (name != nullptr) *name = dimension.name.c_str();
  });
}

crisol_status crisol_onnx_text(const crisol_model* model, int32_t output, int32_t position, const char** text) {
  constexpr const char* op = "onnx_text";
  return guarded([&] {
    const onnx::Model& own = model_of(model, op);
    const std::vector<std::string> texts = own.texts(item_of(own.outputs(), output, op, "output").name);
    require(position >= 0, op, "position is ", position);
    if (static_cast<std::size_t>(position) < texts.size())
      give_text(text, op, "text", texts[static_cast<std::size_t>(position)]);
    else
      need(text, op, "text") = nullptr;
  });
}

crisol_status crisol_onnx_profile(const crisol_model* model, int input_count, const char* const* input_names,
                                  const crisol_tensor* const* inputs, const char** json) {
  constexpr const char* op = "onnx_profile";
  return guarded([&] {
    const onnx::Model& own = model_of(model, op);
    give_text(json, op, "json", onnx::to_json(own.profile(named_inputs(input_count, input_names, inputs, op))));
  });
}

crisol_status crisol_onnx_optimized(const crisol_model* model, int input_count, const char* const* input_names,
                                    const crisol_tensor* const* inputs, const char** text) {
  constexpr const char* op = "onnx_optimized";
  return guarded([&] {
    const onnx::Model& own = model_of(model, op);
    give_text(text, op, "text", own.optimized(named_inputs(input_count, input_names, inputs, op)));
  });
}

crisol_status crisol_onnx_load_tensor(const char* path, crisol_device device, crisol_tensor** result) {
  constexpr const char* op = "onnx_load_tensor";
  return give(result, op, [&] { return onnx::load_tensor(&need(path, op, "path"), device_of(device, op)).second; });
}

crisol_status crisol_onnx_check(const char* folder, double rtol, double atol, crisol_device device, const char** json) {
  constexpr const char* op = "onnx_check";
  return guarded([&] {
    need(folder, op, "folder");
    give_text(json, op, "json",
              onnx::to_json(onnx::check(folder, {.rtol = rtol, .atol = atol}, device_of(device, op))));
  });
}

crisol_status crisol_onnx_supported_ops(const char** json) {
  return guarded([&] { give_text(json, "onnx_supported_ops", "json", onnx::to_json(onnx::supported_ops())); });
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
