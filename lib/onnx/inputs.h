// The values that a model gets for a run.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "crisol/named_tensors.h"
#include "graph/graph.h"
#include "onnx/import.h"

namespace crisol::onnx {

/// A shape as text, such as "(N, 3, ?)".
std::string shape_text(const std::vector<graph::SymbolicSize>& shape);

/// The input values of a run, made from tensors by name.
class RunInputs {
 public:
  /// Throws invalid_argument for a name that the model does not have, for a missing input, and for a tensor that does
  /// not fit the file's description.
  RunInputs(const graph::Graph& graph, const std::vector<Imported::Default>& defaults, const NamedTensors& given);

  /// Whether a program can use the inputs. It cannot if an input is a sequence or left out, or if an initializer has
  /// another value.
  bool fit_programs() const;
  /// The inputs of the graph, if all are tensors.
  std::vector<Tensor> tensors(Device device) const;

  graph::Data data;
  std::vector<std::pair<int, graph::Datum>> replaced;  ///< The initializers that have another value in this run.

 private:
  const graph::Value& value_at(int value) const { return graph_.values[static_cast<std::size_t>(value)]; }
  void add(const std::string& name, const Tensor& tensor, std::map<std::string_view, graph::Data>& sequences);

  const graph::Graph& graph_;
  const std::vector<Imported::Default>& defaults_;
  std::map<std::string, std::int64_t> sizes_;  ///< The known sizes, by their names.
};

}  // namespace crisol::onnx
