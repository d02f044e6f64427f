// Traced graphs in ONNX's ops.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "onnx/ops/call.h"

namespace crisol::onnx {

/// Replaces the nodes of a traced graph that ONNX writes in another way. All sizes of the graph are known.
class Lowering {
 public:
  explicit Lowering(graph::Graph& graph) : graph_(graph) {}

  /// Throws invalid_argument for a node that ONNX cannot express.
  void apply();

  /// Adds a node of ONNX, and gives its outputs.
  std::vector<int> nodes(const std::string& op, std::vector<int> inputs, Attributes attributes, int outputs);
  /// A node with one output.
  int node(const std::string& op, std::vector<int> inputs, Attributes attributes = {}) {
    return nodes(op, std::move(inputs), std::move(attributes), 1)[0];
  }
  /// A constant of whole numbers.
  int numbers(std::vector<std::int64_t> values);
  /// A constant of rank 0.
  int number(const Scalar& value, DType dtype);
  int constant(const Tensor& tensor);
  int cast(int x, DType from, DType to);

  DType dtype(int value) const { return *graph_.values[static_cast<std::size_t>(value)].dtype; }
  Shape shape(int value) const {
    Shape shape;
    for (const graph::SymbolicSize& size : *graph_.values[static_cast<std::size_t>(value)].shape)
      shape.push_back(*size.size);
    return shape;
  }
  /// Whether the value is known to have no elements.
  bool is_empty(int value) const {
    return graph_.values[static_cast<std::size_t>(value)].shape && shape(value).numel() == 0;
  }
  int rank(int value) const { return shape(value).rank(); }
  /// The size of an axis, which may count from the end.
  std::int64_t size(int value, int axis) const { return shape(value)[axis < 0 ? axis + rank(value) : axis]; }

 private:
  int add_value(const std::string& what);
  void replace(const graph::Node& node);

  graph::Graph& graph_;
  std::vector<graph::Node> nodes_;
};

/// Gives the values that stand for a node's outputs.
using Lower = std::vector<int> (*)(Lowering& to, const graph::Node& node);

std::vector<int> lower_adaptive_avg_pool(Lowering& to, const graph::Node& node);
std::vector<int> lower_attention(Lowering& to, const graph::Node& node);
std::vector<int> lower_conv(Lowering& to, const graph::Node& node);
/// A node of a row of single elements.
std::vector<int> lower_elements(Lowering& to, const graph::Node& node);
std::vector<int> lower_pool(Lowering& to, const graph::Node& node);
std::vector<int> lower_rnn(Lowering& to, const graph::Node& node);
std::vector<int> lower_resample(Lowering& to, const graph::Node& node);
std::vector<int> lower_enlarge(Lowering& to, const graph::Node& node);
std::vector<int> lower_interpolate(Lowering& to, const graph::Node& node);
std::vector<int> lower_grid_sample(Lowering& to, const graph::Node& node);

}  // namespace crisol::onnx
