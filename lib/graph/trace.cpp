#include "graph/trace.h"

#include "base/text.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/index.h"
#include "crisol/grad_mode.h"
#include "graph/symbolic.h"
#include "graph/tracer.h"

namespace crisol::graph {

namespace {

constexpr const char* op = "trace";

std::string name_of(const std::vector<std::string>& names, const char* otherwise, std::size_t i, std::size_t count) {
  if (!names.empty()) return names[i];
  return count == 1 ? otherwise : concat(otherwise, '_', i);
}

/// The example inputs with another batch size: their slices are repeated.
std::vector<Tensor> with_batch(const std::vector<Tensor>& inputs, int axis, std::int64_t batch) {
  std::vector<Tensor> changed;
  for (const Tensor& input : inputs) {
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < batch; ++i) places.push_back(i % input.size(axis));
    changed.push_back(index_select(input, axis, from_vector(places, input.device())));
  }
  return changed;
}

Traced trace_once(const TensorFunction& function, const std::vector<Tensor>& inputs, const NamedTensors& state,
                  const TraceNames& names, Rewrite rewrite, Writes writes) {
  Tracer tracer(state);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    tracer.add_input(inputs[i], name_of(names.inputs, "input", i, inputs.size()));
  std::vector<Tensor> outputs = function(inputs);
  std::erase_if(outputs, [](const Tensor& output) { return !output.defined(); });
  require(!outputs.empty(), op, "the function gives no tensor");
  require(names.outputs.empty() || names.outputs.size() == outputs.size(), op, names.outputs.size(), " names for ",
          outputs.size(), " outputs");
  for (std::size_t i = 0; i < outputs.size(); ++i)
    tracer.add_output(outputs[i], name_of(names.outputs, "output", i, outputs.size()));
  auto [graph, weights] = tracer.finish(writes == Writes::kept);
  if (rewrite != nullptr) rewrite(graph);
  return {std::move(graph), std::move(weights)};
}

}  // namespace

Traced trace(const TensorFunction& function, const std::vector<Tensor>& inputs, const NamedTensors& state,
             const TraceNames& names, Rewrite rewrite, Writes writes) {
  require(!inputs.empty(), op, "a trace needs at least one example input");
  require(names.inputs.empty() || names.inputs.size() == inputs.size(), op, names.inputs.size(), " names for ",
          inputs.size(), " inputs");
  for (const Tensor& input : inputs) {
    require(input.defined(), op, "an example is undefined");
    require(names.batch_axis >= 0 && names.batch_axis < input.dim(), op, "an example of shape ", input.shape(),
            " has no axis ", names.batch_axis, " for the batch");
    require(input.size(names.batch_axis) == inputs[0].size(names.batch_axis), op, "the examples have batches of ",
            inputs[0].size(names.batch_axis), " and ", input.size(names.batch_axis));
  }
  require(inputs[0].size(names.batch_axis) > 0, op, "the examples are empty");
  const NoGrad no_grad;
  // A batch size of 1 is avoided, because an axis of size 1 broadcasts.
  const std::int64_t batch = std::max<std::int64_t>(inputs[0].size(names.batch_axis), 2);
  const auto traced = [&](const std::vector<Tensor>& of) {
    return trace_once(function, of, state, names, rewrite, writes);
  };
  try {
    Traced first = traced(with_batch(inputs, names.batch_axis, batch));
    const Traced second = traced(with_batch(inputs, names.batch_axis, batch + 1));
    make_symbolic(first.graph, second.graph, {batch, batch + 1, names.batch, names.batch_axis});
    return first;
  } catch (...) {
    if (writes == Writes::dropped) throw;
    Traced exact = traced(inputs);
    if (exact.graph.states.empty()) throw;
    exact.has_any_batch = false;
    return exact;
  }
}

}  // namespace crisol::graph
