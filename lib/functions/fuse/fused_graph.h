// What fuse() records, as graphs of rows: lowering, taking apart, gradients.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "functions/fuse/expr_node.h"
#include "ops/pointwise/pointwise_graph.h"

namespace crisol::detail {

/// Tensors and numbers that a function may have: its gradient's kernel reads those of the results besides.
inline constexpr std::size_t max_tensors = 8, max_numbers = 8;

/// Where a number of a graph comes from when it runs.
struct ScalarOrigin {
  enum class Kind : std::uint8_t {
    constant,  ///< `value`
    argument,  ///< Number `index` of the arguments.
    count,     ///< 1 / the number of elements that result `index` is the mean of.
  };
  Kind kind = Kind::constant;
  Scalar value = 0;
  std::size_t index = 0;
};

/// Where a tensor of a graph comes from.
struct TensorOrigin {
  enum class Kind : std::uint8_t { argument, result, gradient };
  Kind kind = Kind::argument;
  std::size_t index = 0;

  friend bool operator==(const TensorOrigin&, const TensorOrigin&) = default;
};

/// A graph, what belongs to its inputs and scalars, and the nodes that are wanted. Kernels have limits that this has
/// not: its parts become theirs.
struct FusedGraph {
  ops::PointwiseGraph graph;  ///< Without outputs.
  std::vector<int> outputs;
  std::vector<TensorOrigin> tensors;
  std::vector<ScalarOrigin> scalars;
};

/// What a function recorded: the value of each result before it is reduced.
struct Recording {
  FusedGraph fused;
  std::vector<Trailing> trailing;  ///< Of each result.
};

/// Type of an argument: a tensor's, or that of a number.
struct ArgumentType {
  bool is_tensor = true;
  ops::OperandType type;
};

/// Refuses, naming op, reductions inside of expressions, more tensors, numbers or results than graphs take, and what
/// the rows refuse.
Recording lower(const char* op, std::span<const ArgumentType> arguments, std::span<const Expr> results);

/// Adds a row, derivative or conversion whose operands have copies in another graph to that graph.
int copy_node(ops::PointwiseGraph::Node node, const std::vector<int>& copies, ops::PointwiseGraph& to);

/// The part of a graph that some of its nodes need, with those as outputs.
FusedGraph extract(const FusedGraph& whole, std::span<const int> outputs);

/// Bit i: argument i of the graph's tensors is needed for a node.
std::uint32_t tensors_read(const FusedGraph& whole, int node);

/// Adds a node that is true where a value is the maximum or minimum `b`: a NaN one came from the NaNs.
int equal_or_both_nan(ops::PointwiseGraph& graph, int a, int b);

/// Derivatives of a recording.
struct GradientGraph {
  /// Outputs: for each wanted tensor of the recording that has a gradient, its gradient over the joint shape, in the
  /// tensor's dtype.
  FusedGraph fused;
  std::vector<std::size_t> wanted;  ///< Which tensor of the recording each output belongs to.
  std::vector<bool> depends;        ///< Whether each result changes with a wanted tensor.
};

/// The gradient with respect to the tensors in `wanted` (bits), from those of all results: what the recording computed
/// is computed again from its tensors, or read from a result where that takes no more tensors.
GradientGraph gradient_of(const Recording& recording, std::uint32_t wanted);

}  // namespace crisol::detail
