#include "crisol/compile.h"

#include "base/text.h"
#include "graph/ops/runs.h"
#include "graph/program.h"
#include "graph/trace.h"
#include "onnx/in_evaluation.h"

namespace crisol {

struct Compiled::State {
  std::shared_ptr<nn::Module> module;
  graph::Graph graph;
  std::vector<Tensor> weights;
  Shape shape;  ///< The shape of the example's tensor.
  DType dtype;
  bool has_any_batch;
  graph::Programs programs;

  /// Whether the graph gives the same result as the module for this input.
  bool fits(const Tensor& x) const {
    if (module->training() || !x.defined() || x.dtype() != dtype || x.dim() != shape.rank()) return false;
    for (int i = has_any_batch ? 1 : 0; i < shape.rank(); ++i)
      if (x.size(i) != shape[i]) return false;
    return true;
  }
};

Compiled::Compiled(std::shared_ptr<nn::Module> module, const Tensor& example) : state_(std::make_shared<State>()) {
  require(module != nullptr, "compile", "the module is null");
  const onnx::InEvaluation evaluation(*module);
  // The module's own tensors, not those of state_dict(): they stay valid if the module moves them to other memory.
  NamedTensors state = module->named_parameters();
  for (const auto& buffer : module->named_buffers()) state.push_back(buffer);
  graph::Traced traced =
      graph::trace([&](const std::vector<Tensor>& inputs) { return std::vector<Tensor>{(*module)(inputs[0])}; },
                   {example}, state, {}, nullptr, graph::Writes::kept);
  graph::add_runs(traced.graph);
  state_->module = module;
  state_->graph = std::move(traced.graph);
  state_->weights = std::move(traced.weights);
  state_->shape = example.shape();
  state_->dtype = example.dtype();
  state_->has_any_batch = traced.has_any_batch;
  register_module("module", module);
}

Compiled::Compiled(const Compiled& other) = default;
Compiled::~Compiled() = default;

std::size_t Compiled::programs() const { return state_->programs.made(); }

Tensor Compiled::forward(const Tensor& x) {
  State& state = *state_;
  if (!state.fits(x)) return (*state.module)(x);
  const Device device = x.device();
  const std::optional<graph::Data> outputs = state.programs.run(state.graph, {x}, state.weights, device);
  return outputs ? outputs->front().tensor(device) : (*state.module)(x);
}

}  // namespace crisol
