// A model from an ONNX file, as a module.
#include <algorithm>
#include <chrono>
#include <map>
#include <tuple>

#include "base/text.h"
#include "crisol/grad_mode.h"
#include "crisol/onnx.h"
#include "crisol/profile.h"
#include "graph/program.h"
#include "onnx/import.h"
#include "onnx/info.h"
#include "onnx/inputs.h"
#include "onnx/make_model.h"
#include "onnx/names.h"
#include "onnx/ops/op_names.h"

namespace crisol::onnx {
namespace {

/// A module without computation. It holds the parameters whose names begin with the module's name.
class Part final : public nn::Module {
 public:
  using Module::register_buffer;
  using Module::register_module;
  using Module::register_parameter;
};

/// Splits "a.b.c" into "a.b" and "c".
std::pair<std::string, std::string> split(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos) return {"", name};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

}  // namespace

struct Model::State {
  /// A weight is either a parameter or a buffer.
  struct Weight {
    nn::Parameter parameter;
    nn::Buffer buffer;
    const Tensor& tensor() const { return parameter.defined() ? static_cast<const Tensor&>(parameter) : buffer; }
  };
  std::shared_ptr<const graph::Graph> graph;
  std::vector<ValueInfo> inputs, outputs;
  std::vector<graph::Texts> texts;  ///< The texts of each output. Null for numbers.
  std::vector<Weight> weights;
  std::vector<Imported::Default> defaults;
  Device device;  ///< The device on which a model without weights runs.
  std::shared_ptr<graph::Programs> programs = std::make_shared<graph::Programs>();
};

Model::Model(std::unique_ptr<State> state) : state_(std::move(state)) {}
Model::Model(const Model& other) : Module(other), state_(std::make_unique<State>(*other.state_)) {
  state_->programs = std::make_shared<graph::Programs>();
}
Model::~Model() = default;

const std::vector<ValueInfo>& Model::inputs() const noexcept { return state_->inputs; }
const std::vector<ValueInfo>& Model::outputs() const noexcept { return state_->outputs; }

std::vector<std::string> Model::texts(const std::string& output) const {
  std::string names;
  for (std::size_t i = 0; i < state_->outputs.size(); ++i) {
    const std::string& name = state_->outputs[i].name;
    if (name == output) return state_->texts[i] ? *state_->texts[i] : std::vector<std::string>();
    names += concat(names.empty() ? "" : ", ", file::in_quotes(name));
  }
  fail(ErrorCode::invalid_argument, "onnx", "there is no output ", file::in_quotes(output), "; there are: ", names);
}

namespace {

/// The device on which a model runs.
template <class State>
Device place_of(const State& state) {
  return state.weights.empty() ? state.device : state.weights.front().tensor().device();
}

template <class State>
std::vector<Tensor> weights_of(const State& state) {
  std::vector<Tensor> weights;
  weights.reserve(state.weights.size());
  for (const auto& weight : state.weights) weights.push_back(weight.tensor());
  return weights;
}

/// The results of a graph, with the names of the model's outputs.
Outputs named(const std::vector<ValueInfo>& infos, const graph::Data& results, Device device) {
  // A result on the host is cloned, because a user may write to an output, and constants on the host share one tensor.
  const auto tensor_of = [&](const graph::Datum& datum) {
    return datum.on_host() ? datum.tensor(device).clone() : datum.tensor(device);
  };
  std::vector<std::string> names;
  NamedTensors outputs;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string& name = names.emplace_back(infos[i].name);
    if (results[i].is_sequence())
      for (const graph::Datum& element : results[i].elements()) outputs.emplace_back(name, tensor_of(element));
    else if (results[i].defined())
      outputs.emplace_back(name, tensor_of(results[i]));
  }
  return Outputs(std::move(names), std::move(outputs));
}

/// Computes the results with a program if there is one. Otherwise runs node by node.
template <class State>
graph::Data results_of(const State& state, const RunInputs& own, Device device, const graph::OutputMemory& memory) {
  const std::vector<Tensor> weights = weights_of(state);
  if (own.fit_programs())
    if (auto results = state.programs->run(*state.graph, own.tensors(device), weights, device, memory))
      return std::move(*results);
  return graph::run(*state.graph, own.data, weights, device, own.replaced);
}

/// The graph that a program would run. Nothing if there is no program.
template <class State>
std::optional<graph::Graph> graph_of_program(const State& state, const RunInputs& own, Device device,
                                             graph::PassChanges* changes = nullptr) {
  if (!own.fit_programs()) return {};
  return state.programs->graph_of(*state.graph, own.tensors(device), weights_of(state), device, changes);
}

/// A text with one line for each node, with the shapes of its inputs and outputs.
std::string listed(const graph::Graph& graph) {
  const auto shapes = [&](const std::vector<int>& values) {
    std::string list;
    for (const int value : values) {
      const auto* shape = value == graph::absent ? nullptr : &graph.values[static_cast<std::size_t>(value)].shape;
      list += concat(list.empty() ? "" : ", ", shape == nullptr || !*shape ? "-" : shape_text(**shape));
    }
    return list;
  };
  std::string text;
  for (const graph::Node& node : graph.nodes)
    text += concat(onnx_name(node), ' ', node.name, ": ", shapes(node.inputs), " -> ", shapes(node.outputs), '\n');
  return text;
}

/// Runs a node, and adds its times to the row.
template <class Compute>
graph::Data measure(OpTime& row, Device device, const Compute& compute) {
  const Profile kernels(device);
  const auto start = std::chrono::steady_clock::now();
  graph::Data out = compute();
  const std::vector<ProfileRow> launched = kernels.rows();  // Waits for the device.
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  ++row.nodes;
  row.total_ms += time.count();
  for (const ProfileRow& kernel : launched) {
    row.kernel_ms += kernel.total_ms;
    row.launches += kernel.launches;
  }
  return out;
}

}  // namespace

Outputs Model::operator()(const NamedTensors& inputs) const { return (*this)(inputs, {}); }

Outputs Model::operator()(const NamedTensors& inputs, const OutputMemory& memory) const {
  const RunInputs own(*state_->graph, state_->defaults, inputs);
  const Device device = place_of(*state_);
  const auto memory_of = [&](std::size_t output, const Shape& shape, DType dtype) {
    const std::string& name = state_->outputs[output].name;
    Tensor given = memory ? memory(name, shape, dtype) : Tensor();
    if (given.defined() && (given.shape() != shape || given.dtype() != dtype || given.device() != device))
      fail(ErrorCode::invalid_argument, "onnx", "the memory for output ", file::in_quotes(name), " is not of ", shape,
           ' ', dtype, " on ", device.name());
    return given;
  };
  return named(state_->outputs, results_of(*state_, own, device, memory_of), device);
}

std::size_t Model::prepare(const NamedTensors& inputs) const {
  const NoGrad no_grad;
  const RunInputs own(*state_->graph, state_->defaults, inputs);
  const Device device = place_of(*state_);
  return own.fit_programs()
             ? state_->programs->prepare(*state_->graph, own.tensors(device), weights_of(*state_), device)
             : 0;
}

std::string Model::optimized(const NamedTensors& inputs) const {
  const NoGrad no_grad;
  const RunInputs own(*state_->graph, state_->defaults, inputs);
  graph::PassChanges changes;
  const auto graph = graph_of_program(*state_, own, place_of(*state_), &changes);
  if (!graph)
    return "no program for these inputs: the nodes of the file run one after another\n" + listed(*state_->graph);
  std::string text;
  for (const auto& [pass, count] : changes) text += concat("pass ", pass, ": ", count, '\n');
  return text + listed(*graph);
}

std::vector<OpTime> Model::profile(const NamedTensors& inputs) const {
  const Device device = place_of(*state_);
  const Profile whole(device);  // Makes the profiling queue, which the profiles of the nodes then share.
  const RunInputs own(*state_->graph, state_->defaults, inputs);
  std::vector<Tensor> weights = weights_of(*state_);
  graph::Graph measured = *state_->graph;
  if (auto made = graph_of_program(*state_, own, device)) {
    measured = std::move(*made);
    weights.clear();
  }
  // The two runs are not measured. Drivers compile kernels again for a profiling queue, and weights are packed when
  // they are used for the second time.
  for (int i = 0; i < 2; ++i) graph::run(measured, own.data, weights, device, own.replaced);
  std::map<std::string, OpTime> by_op;
  for (graph::Node& node : measured.nodes) {
    OpTime& row = by_op[std::string(onnx_name(node))];
    node.run = [&row, compute = std::move(node.run)](const graph::Data& in, Device place) {
      return measure(row, place, [&] { return compute(in, place); });
    };
    if (node.control)
      node.control = [&row, compute = std::move(node.control)](const graph::Data& in, const graph::RunBody& run_body,
                                                               Device place) {
        return measure(row, place, [&] { return compute(in, run_body, place); });
      };
  }
  graph::run(measured, own.data, weights, device, own.replaced);
  std::vector<OpTime> rows;
  for (auto& [op, row] : by_op) {
    row.op = op;
    if (row.nodes > 0) rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.total_ms > b.total_ms; });
  return rows;
}

Tensor Model::forward(const Tensor& x) {
  require(state_->inputs.size() == 1 && !state_->outputs.empty(), "onnx", "the model has ", state_->inputs.size(),
          " inputs: call it with their names");
  return (*this)({{state_->inputs[0].name, x}})[state_->outputs[0].name];
}

Model make_model(file::ModelFile& file, Device device) {
  Imported imported = import_model(file, device);
  auto state = std::make_unique<Model::State>();
  std::tie(state->inputs, state->outputs) = values_of(file.model().graph);
  state->graph = std::make_shared<const graph::Graph>(std::move(imported.graph));
  for (const int output : state->graph->outputs)
    state->texts.push_back(output == graph::absent ? nullptr
                                                   : state->graph->values[static_cast<std::size_t>(output)].texts);
  state->defaults = std::move(imported.defaults);
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
  // The module with this path. If the module or modules above it do not exist, they are made.
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
    const auto place = split(names[i]);
    const auto add = [&](auto& module) {
      if (weight.parameter.defined())
        module.register_parameter(place.second, weight.parameter);
      else
        module.register_buffer(place.second, weight.buffer);
    };
    if (place.first.empty())
      add(model);
    else
      add(part_of(place.first, part_of));
  }
  return model;
}

Model load(const std::string& path, Device device) {
  file::ModelFile file(path);
  return make_model(file, device);
}

}  // namespace crisol::onnx
