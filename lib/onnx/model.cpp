// A model from an ONNX file, as a module.
#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.h"
#include "crisol/grad_mode.h"
#include "crisol/onnx.h"
#include "graph/program.h"
#include "onnx/import.h"
#include "onnx/info.h"
#include "onnx/names.h"

namespace crisol::onnx {

namespace {

/// A module without computation: it holds the parameters whose names begin with its own.
class Part final : public nn::Module {
 public:
  using Module::register_buffer;
  using Module::register_module;
  using Module::register_parameter;
};

/// "a.b.c" gives "a.b" and "c".
std::pair<std::string, std::string> split(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos) return {"", name};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

std::string shape_text(const std::vector<graph::SymbolicSize>& shape) {
  std::string text;
  for (const graph::SymbolicSize& d : shape)
    text += concat(text.empty() ? "(" : ", ", d.size           ? std::to_string(*d.size)
                                              : d.name.empty() ? "?"
                                                               : file::printable(d.name));
  return text.empty() ? "()" : text + ')';
}

}  // namespace

struct Model::State {
  /// A weight is one of the two.
  struct Weight {
    nn::Parameter parameter;
    nn::Buffer buffer;
    const Tensor& tensor() const { return parameter.defined() ? static_cast<const Tensor&>(parameter) : buffer; }
  };
  /// By a program if no gradients are wanted.
  graph::Data run(const graph::Data& inputs, const std::vector<Tensor>& values, Device device) const;

  std::shared_ptr<const graph::Graph> graph;
  std::vector<ValueInfo> inputs, outputs;
  std::vector<Weight> weights;
  Device device;  ///< Where a model without weights runs.
  std::shared_ptr<graph::Programs> programs = std::make_shared<graph::Programs>();
};

Model::Model(std::unique_ptr<State> state) : state_(std::move(state)) {}
Model::Model(const Model& other) : Module(other), state_(std::make_unique<State>(*other.state_)) {
  state_->programs = std::make_shared<graph::Programs>();
}
Model::~Model() = default;

const std::vector<ValueInfo>& Model::inputs() const noexcept { return state_->inputs; }
const std::vector<ValueInfo>& Model::outputs() const noexcept { return state_->outputs; }

Tensor Outputs::operator[](const std::string& name) const {
  std::string names;
  for (const auto& [known, tensor] : tensors_) {
    if (known == name) return tensor;
    names += concat(names.empty() ? "" : ", ", file::in_quotes(known));
  }
  fail(ErrorCode::invalid_argument, "onnx", "there is no output ", file::in_quotes(name), "; there are: ", names);
}

namespace {

/// Checks a tensor against what the file says about an input. `sizes` has the sizes of names that are known so far.
void check_input(const graph::Value& value, const Tensor& tensor, std::map<std::string, std::int64_t>& sizes) {
  const std::string input = "input " + file::in_quotes(value.name);
  require(tensor.defined(), "onnx", input, " is undefined");
  require(!value.dtype || tensor.dtype() == *value.dtype, "onnx", input, " has elements of ", tensor.dtype(), ", ",
          name_of(value.dtype.value_or(DType::f32)), " expected");
  if (!value.shape) return;
  bool fits = tensor.dim() == static_cast<int>(value.shape->size());
  for (int i = 0; fits && i < tensor.dim(); ++i) {
    const graph::SymbolicSize& d = (*value.shape)[static_cast<std::size_t>(i)];
    if (d.size) fits = tensor.size(i) == *d.size;
    if (d.name.empty()) continue;
    const std::int64_t size = sizes.try_emplace(d.name, tensor.size(i)).first->second;
    require(size == tensor.size(i), "onnx", input, " has shape ", tensor.shape(), ", and ", file::in_quotes(d.name),
            " is ", size, " already");
  }
  require(fits, "onnx", input, " has shape ", tensor.shape(), ", ", shape_text(*value.shape), " expected");
}

bool wants_gradient(const std::vector<Tensor>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [](const Tensor& t) { return t.requires_grad(); });
}

}  // namespace

graph::Data Model::State::run(const graph::Data& data, const std::vector<Tensor>& values, Device on) const {
  std::vector<Tensor> tensors;
  for (const graph::Datum& datum : data) tensors.push_back(datum.tensor(on));
  if (recorder() != nullptr || (grad_enabled() && (wants_gradient(tensors) || wants_gradient(values))))
    return graph::run(*graph, data, values, on);
  const std::shared_ptr<graph::Program> program = programs->find(*graph, tensors, values, on);
  return program != nullptr ? program->run(tensors) : graph::run(*graph, data, values, on);
}

Outputs Model::operator()(const NamedTensors& inputs) const {
  const graph::Graph& graph = *state_->graph;
  graph::Data data(graph.inputs.size());
  std::map<std::string, std::int64_t> sizes;
  for (const auto& [name, tensor] : inputs) {
    const auto at =
        std::find_if(state_->inputs.begin(), state_->inputs.end(), [&](const auto& i) { return i.name == name; });
    require(at != state_->inputs.end(), "onnx", "the model has no input ", file::in_quotes(name));
    const auto i = static_cast<std::size_t>(at - state_->inputs.begin());
    require(!data[i].defined(), "onnx", "input ", file::in_quotes(name), " is given twice");
    check_input(graph.values[static_cast<std::size_t>(graph.inputs[i])], tensor, sizes);
    data[i] = tensor;
  }
  for (std::size_t i = 0; i < data.size(); ++i)
    require(data[i].defined(), "onnx", "input ", file::in_quotes(state_->inputs[i].name), " is missing");
  std::vector<Tensor> weights;
  for (const State::Weight& weight : state_->weights) weights.push_back(weight.tensor());
  const Device device = weights.empty() ? state_->device : weights.front().device();
  const graph::Data results = state_->run(data, weights, device);
  NamedTensors outputs;
  for (std::size_t i = 0; i < results.size(); ++i)
    outputs.emplace_back(state_->outputs[i].name, results[i].tensor(device));
  return Outputs(std::move(outputs));
}

Tensor Model::forward(const Tensor& x) {
  require(state_->inputs.size() == 1 && !state_->outputs.empty(), "onnx", "the model has ", state_->inputs.size(),
          " inputs: call it with their names");
  return (*this)({{state_->inputs[0].name, x}}).tensors()[0].second;
}

Model load(const std::string& path, Device device) {
  file::ModelFile file(path);
  Imported imported = import_model(file, device);
  auto state = std::make_unique<Model::State>();
  std::tie(state->inputs, state->outputs) = values_of(file.model().graph);
  state->graph = std::make_shared<const graph::Graph>(std::move(imported.graph));
  state->device = device;
  std::vector<std::string> names;
  for (const Imported::Weight& weight : imported.weights) {
    names.push_back(weight.name);
    auto& own = state->weights.emplace_back();
    if (weight.is_trained)
      own.parameter = weight.tensor;
    else
      own.buffer = weight.tensor;
  }
  Model model(std::move(state));
  names = module_names(names);
  std::map<std::string, Part> parts;
  // The module of a path; makes it and those above it.
  const auto part_of = [&](const std::string& name, const auto& self) -> Part& {
    const auto [at, is_new] = parts.try_emplace(name);
    if (!is_new) return at->second;
    const auto [above, own] = split(name);
    if (above.empty())
      model.register_module(own, at->second);
    else
      self(above, self).register_module(own, at->second);
    return at->second;
  };
  for (std::size_t i = 0; i < names.size(); ++i) {
    Model::State::Weight& weight = model.state_->weights[i];
    const auto [above, own] = split(names[i]);
    const auto add = [&](auto& module) {
      if (weight.parameter.defined())
        module.register_parameter(own, weight.parameter);
      else
        module.register_buffer(own, weight.buffer);
    };
    if (above.empty())
      add(model);
    else
      add(part_of(above, part_of));
  }
  return model;
}

}  // namespace crisol::onnx
