// Models for C.
#include <array>
#include <string_view>

#include "c_api/handles.h"
#include "crisol/compile.h"
#include "crisol/io/safetensors.h"
#include "crisol/nn/models/alexnet.h"
#include "crisol/nn/models/mobilenet_v2.h"
#include "crisol/nn/models/resnet.h"
#include "crisol/nn/models/row_lstm.h"
#include "crisol/nn/models/simple_cnn.h"
#include "crisol/nn/models/vgg.h"

using namespace crisol;
using namespace crisol::c_api;

namespace {

using ModulePtr = std::unique_ptr<nn::Module>;

struct ModelRow {
  std::string_view name;
  ModulePtr (*make)(std::int64_t classes);
  crisol_model::Copy copy;
};

template <class M>
ModulePtr copy_of(const nn::Module& module) {
  return std::make_unique<M>(nn::clone(static_cast<const M&>(module)));
}

constexpr std::array models{
    ModelRow{"simple_cnn",
             [](std::int64_t classes) -> ModulePtr { return std::make_unique<nn::SimpleCNN>(1, classes); },
             &copy_of<nn::SimpleCNN>},
    ModelRow{"row_lstm",
             [](std::int64_t classes) -> ModulePtr { return std::make_unique<nn::RowLSTM>(28, 128, classes); },
             &copy_of<nn::RowLSTM>},
    ModelRow{"alexnet", [](std::int64_t classes) -> ModulePtr { return std::make_unique<nn::AlexNet>(classes); },
             &copy_of<nn::AlexNet>},
    ModelRow{"vgg16", [](std::int64_t classes) -> ModulePtr { return std::make_unique<nn::VGG>(nn::vgg16(classes)); },
             &copy_of<nn::VGG>},
    ModelRow{"resnet18",
             [](std::int64_t classes) -> ModulePtr { return std::make_unique<nn::ResNet>(nn::resnet18(classes)); },
             &copy_of<nn::ResNet>},
    ModelRow{"mobilenet_v2",
             [](std::int64_t classes) -> ModulePtr { return std::make_unique<nn::MobileNetV2>(classes); },
             &copy_of<nn::MobileNetV2>},
};

void give_counts(const nn::StateDifference& difference, int32_t* missing, int32_t* unexpected) {
  if (missing != nullptr) *missing = static_cast<int32_t>(difference.missing.size());
  if (unexpected != nullptr) *unexpected = static_cast<int32_t>(difference.unexpected.size());
}

crisol_model* new_model(ModulePtr module, crisol_model::Copy copy) {
  NamedTensors parameters = module->named_parameters();
  return new crisol_model{std::move(module), std::move(parameters), copy, {}};
}

}  // namespace

crisol_status crisol_model_create(const char* name, int64_t classes, crisol_device device, crisol_model** result) {
  constexpr const char* op = "model_create";
  return guarded([&] {
    crisol_model*& place = need(result, op, "result");
    const ModelRow& model = row_named(models, &need(name, op, "name"), op, "model");
    ModulePtr module = model.make(classes);
    module->to(device_of(device, op));
    place = new_model(std::move(module), model.copy);
  });
}

crisol_status crisol_model_clone(const crisol_model* model, crisol_model** result) {
  constexpr const char* op = "model_clone";
  return guarded([&] {
    crisol_model*& place = need(result, op, "result");
    const crisol_model& original = need(model, op, "model");
    place = new_model(original.copy(*original.module), original.copy);
  });
}

crisol_status crisol_model_compile(const crisol_model* model, const crisol_tensor* example, crisol_model** result) {
  constexpr const char* op = "model_compile";
  return guarded([&] {
    crisol_model*& place = need(result, op, "result");
    const crisol_model& original = need(model, op, "model");
    const Tensor& x = need(example, op, "example").value;
    place = new_model(std::make_unique<Compiled>(original.module, x), [](const nn::Module&) -> ModulePtr {
      fail(ErrorCode::invalid_argument, "model_clone", "a compiled model has no copy; compile a copy of the model");
    });
  });
}

crisol_status crisol_model_text(crisol_model* model, const char** text) {
  constexpr const char* op = "model_text";
  return guarded([&] {
    const char*& place = need(text, op, "text");
    crisol_model& own = need(model, op, "model");
    own.text = concat(*own.module);
    place = own.text.c_str();
  });
}

void crisol_model_destroy(crisol_model* model) { delete model; }

crisol_status crisol_model_load(crisol_model* model, const char* path) {
  constexpr const char* op = "model_load";
  return guarded([&] {
    nn::Module& module = *need(model, op, "model").module;
    module.load_state_dict(io::load_safetensors(&need(path, op, "path"), module.parameters().front().device()));
  });
}

crisol_status crisol_model_load_partial(crisol_model* model, const char* path, int32_t* missing, int32_t* unexpected) {
  constexpr const char* op = "model_load_partial";
  return guarded([&] {
    nn::Module& module = *need(model, op, "model").module;
    const NamedTensors state = io::load_safetensors(&need(path, op, "path"), module.parameters().front().device());
    give_counts(module.load_state_dict(state, {.strict = false}), missing, unexpected);
  });
}

crisol_status crisol_model_save(const crisol_model* model, const char* path) {
  constexpr const char* op = "model_save";
  return guarded([&] { io::save_safetensors(&need(path, op, "path"), need(model, op, "model").module->state_dict()); });
}

crisol_status crisol_model_state_dict(const crisol_model* model, crisol_named_tensors** result) {
  constexpr const char* op = "model_state_dict";
  return give(result, op, [&] { return need(model, op, "model").module->state_dict(); });
}

crisol_status crisol_model_load_state_dict(crisol_model* model, const crisol_named_tensors* state, int strict,
                                           int32_t* missing, int32_t* unexpected) {
  constexpr const char* op = "model_load_state_dict";
  return guarded([&] {
    give_counts(need(model, op, "model").module->load_state_dict(state_of(state, op), {.strict = strict != 0}), missing,
                unexpected);
  });
}

crisol_status crisol_model_train(crisol_model* model, int on) {
  return guarded([&] { need(model, "model_train", "model").module->train(on != 0); });
}

crisol_status crisol_model_forward(crisol_model* model, const crisol_tensor* x, crisol_tensor** result) {
  return give_from(x, result, "model_forward",
                   [&](const Tensor& t) { return (*need(model, "model_forward", "model").module)(t); });
}

crisol_status crisol_model_parameter_count(const crisol_model* model, int32_t* tensors) {
  constexpr const char* op = "model_parameter_count";
  return guarded(
      [&] { need(tensors, op, "tensors") = static_cast<int32_t>(need(model, op, "model").parameters.size()); });
}

crisol_status crisol_model_parameter(const crisol_model* model, int32_t index, const char** name,
                                     crisol_tensor** result) {
  constexpr const char* op = "model_parameter";
  return guarded([&] { give_item(need(model, op, "model").parameters, index, name, result, op, "parameter"); });
}
