// onnx::save: traces a function and writes its graph.
#include "base/text.h"
#include "crisol/onnx.h"
#include "graph/trace.h"
#include "onnx/in_evaluation.h"
#include "onnx/writer/lowering.h"
#include "onnx/writer/model_writer.h"

namespace crisol::onnx {

void save(const std::string& path, const Function& function, const std::vector<Tensor>& examples,
          const NamedTensors& state, const SaveOptions& options) {
  const graph::Traced traced =
      graph::trace(function, examples, state, {options.inputs, options.outputs, options.batch, options.batch_axis},
                   [](graph::Graph& graph) { Lowering(graph).apply(); });
  write_model(path, traced.graph, traced.weights, options.max_bytes);
}

void save(const std::string& path, nn::Module& module, const std::vector<Tensor>& examples,
          const SaveOptions& options) {
  require(examples.size() == 1, "onnx", "a module takes one input, ", examples.size(),
          " examples are given; give a function that calls the module");
  const InEvaluation evaluation(module);
  save(
      path, [&](const std::vector<Tensor>& inputs) { return std::vector<Tensor>{module(inputs[0])}; }, examples,
      module.state_dict(), options);
}

}  // namespace crisol::onnx
