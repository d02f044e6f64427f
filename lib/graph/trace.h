// Graphs of the computations of functions of tensors.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "crisol/named_tensors.h"
#include "graph/graph.h"

namespace crisol::graph {

using TensorFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>;

/// The names of a traced graph.
struct TraceNames {
  std::vector<std::string> inputs = {};   ///< "input", or "input_0", "input_1", … if the list is empty.
  std::vector<std::string> outputs = {};  ///< "output", or "output_0", "output_1", … if the list is empty.
  std::string batch = "batch";            ///< The size that may change.
  int batch_axis = 0;                     ///< The axis of all inputs that has this size.
};

struct Traced {
  Graph graph;                  ///< Its nodes have no runs.
  std::vector<Tensor> weights;  ///< The tensors of Graph::weights.
};

/// Runs `function` with the inputs and with another size of the batch, without gradients, and gives the graph of its
/// computation. Ops and attributes have ONNX's newest form. The tensors of `state` that the function uses become
/// weights under their names, and other tensors from before the trace become constants. Sizes that grow with the batch
/// are computed from the shape of the first input.
///
/// Throws invalid_argument for a function that ONNX cannot express: an op without a form there, writing into a tensor,
/// reading values on the host, and numbers that depend on the size of the batch in another way.
Traced trace(const TensorFunction& function, const std::vector<Tensor>& inputs, const NamedTensors& state,
             const TraceNames& names = {});

}  // namespace crisol::graph
