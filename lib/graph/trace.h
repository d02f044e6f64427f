// Traces: the computations of a function of tensors, as a graph.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "crisol/named_tensors.h"
#include "graph/graph.h"

namespace crisol::graph {

using TensorFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>;

/// The names in a traced graph.
struct TraceNames {
  std::vector<std::string> inputs = {};   ///< "input", or "input_0", "input_1", … if the list is empty.
  std::vector<std::string> outputs = {};  ///< "output", or "output_0", "output_1", … if the list is empty.
  std::string batch = "batch";            ///< The name of the size that may change.
  int batch_axis = 0;                     ///< The axis with this size, in all inputs.
};

struct Traced {
  Graph graph;                  ///< Its nodes have no Run.
  std::vector<Tensor> weights;  ///< The tensors for Graph::weights.
  bool has_any_batch = true;    ///< Whether the graph holds for other sizes of the batch too.
};

/// What becomes of writes to tensors of the state.
enum class Writes {
  dropped,  ///< They have no effect on the graph. Refused if the graph reads the tensor.
  kept,     ///< Each run of the graph writes to the tensors: see Graph::states.
};

/// Changes a graph whose sizes are all known.
using Rewrite = void (*)(Graph& graph);

/// Runs `function` without gradients, with the inputs and with inputs of another batch size. Returns the graph of its
/// computation. Tensors of `state` that the function uses become weights with their names. Other tensors that are older
/// than the trace become constants. Sizes that grow with the batch are computed from the shape of the first input.
/// `rewrite` changes the graphs of both batch sizes before they are compared. A function that writes to its state and
/// that does not take another batch size has a graph for the size of the inputs alone. After the trace, the state has
/// the elements from before.
///
/// Throws invalid_argument for a function that has no graph. The reasons are an op that is not noted, writing into
/// another tensor or into a part of one, reading values on the host, or numbers that depend on the batch size in
/// another way.
Traced trace(const TensorFunction& function, const std::vector<Tensor>& inputs, const NamedTensors& state,
             const TraceNames& names = {}, Rewrite rewrite = nullptr, Writes writes = Writes::dropped);

}  // namespace crisol::graph
