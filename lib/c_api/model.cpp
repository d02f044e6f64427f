// Models and files for C.
#include <array>
#include <string_view>

#include "c_api/handles.h"
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

struct Model {
  std::string_view name;
  ModulePtr (*make)(std::int64_t classes);
  crisol_model::Copy copy;
};

template <class M>
ModulePtr copy_of(const nn::Module& module) {
  return std::make_unique<M>(nn::clone(static_cast<const M&>(module)));
}

constexpr std::array models{
    Model{"simple_cnn", [](std::int64_t classes) -> ModulePtr { return std::make_unique<nn::SimpleCNN>(1, classes); },
          &copy_of<nn::SimpleCNN>},
    Model{"row_lstm", [](std::int64_t classes) -> ModulePtr { return std::make_unique<nn::RowLSTM>(28, 128, classes); },
          &copy_of<nn::RowLSTM>},
    Model{"alexnet", [](std::int64_t classes) -> ModulePtr { return std::make_unique<nn::AlexNet>(classes); },
          &copy_of<nn::AlexNet>},
    Model{"vgg16", [](std::int64_t classes) -> ModulePtr { return std::make_unique<nn::VGG>(nn::vgg16(classes)); },
          &copy_of<nn::VGG>},
    Model{"resnet18",
          [](std::int64_t classes) -> ModulePtr { return std::make_unique<nn::ResNet>(nn::resnet18(classes)); },
          &copy_of<nn::ResNet>},
    Model{"mobilenet_v2", [](std::int64_t classes) -> ModulePtr { return std::make_unique<nn::MobileNetV2>(classes); },
          &copy_of<nn::MobileNetV2>},
};

crisol_model* new_model(ModulePtr module, crisol_model::Copy copy) {
  NamedTensors parameters = module->named_parameters();
  return new crisol_model{std::move(module), std::move(parameters), copy, {}};
}

}  // namespace

crisol_status crisol_model_create(const char* name, int64_t classes, crisol_device device, crisol_model** result) {
  constexpr const char* op = "model_create";
  return guarded([&] {
    crisol_model*& place = need(result, op, "result");
    const Model& model = row_named(models, &need(name, op, "name"), op, "model");
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
    const nn::StateDifference difference = module.load_state_dict(
        io::load_safetensors(&need(path, op, "path"), module.parameters().front().device()), {.strict = false});
    if (missing != nullptr) *missing = static_cast<int32_t>(difference.missing.size());
    if (unexpected != nullptr) *unexpected = static_cast<int32_t>(difference.unexpected.size());
  });
}

crisol_status crisol_model_save(const crisol_model* model, const char* path) {
  constexpr const char* op = "model_save";
  return guarded([&] { io::save_safetensors(&need(path, op, "path"), need(model, op, "model").module->state_dict()); });
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
  return guarded([&] {
    const NamedTensors& all = need(model, op, "model").parameters;
    require(index >= 0 && static_cast<std::size_t>(index) < all.size(), op, "parameter ", index, " of ", all.size());
    const auto& [its_name, value] = all[static_cast<std::size_t>(index)];
    if (result != nullptr) *result = new crisol_tensor{value};
    if (name != nullptr) *name = its_name.c_str();
  });
}

crisol_status crisol_save_tensors(const char* path, int count, const char* const* names,
                                  const crisol_tensor* const* tensors) {
  constexpr const char* op = "save_tensors";
  return guarded([&] {
    const std::vector<Tensor> values = tensors_of(tensors, count, op, "tensors");
    NamedTensors named;
    for (std::size_t i = 0; i < values.size(); ++i)
      named.emplace_back(&need((&need(names, op, "names"))[i], op, "a name"), values[i]);
    io::save_safetensors(&need(path, op, "path"), named);
  });
}

crisol_status crisol_load_tensor(const char* path, const char* name, crisol_device device, crisol_tensor** result) {
  constexpr const char* op = "load_tensor";
  return give(result, op, [&] {
    const std::string wanted = &need(name, op, "name");
    for (const auto& [its_name, value] : io::load_safetensors(&need(path, op, "path"), device_of(device, op)))
      if (its_name == wanted) return value;
    fail(ErrorCode::invalid_argument, op, path, " has no tensor '", wanted, "'");
  });
}
