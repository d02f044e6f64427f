// Graphs of rows that fuse() makes: lowering, splitting, gradients.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "functions/fuse/expr_node.h"
#include "ops/pointwise/pointwise_graph.h"

namespace crisol::detail {

/// The largest numbers of tensors and of scalars that a function may have. This leaves room for the tensors that the
/// gradient's kernel reads in addition.
inline constexpr std::size_t max_tensors = 8, max_numbers = 8;

/// Where a scalar of a graph comes from at run time.
struct ScalarOrigin {
  enum class Kind : std::uint8_t {
    constant,  ///< `value`
    argument,  ///< Number `index` of the arguments.
    count,     ///< 1 / the number of elements whose mean result `index` is.
  };
  Kind kind = Kind::constant;
  Scalar value = 0;
  std::size_t index = 0;
};

/// Where a tensor of a graph comes from.
struct TensorOrigin {
  enum class Kind : std::uint8_t {
    argument,
    result,
    gradient,
    elements,  ///< The elements whose maximum or minimum result `index` is. Backward computes and stores them.
    extreme,   ///< The maximum or minimum of these stored elements.
  };
  Kind kind = Kind::argument;
  std::size_t index = 0;

  friend bool operator==(const TensorOrigin&, const TensorOrigin&) = default;
};

/// A graph, the origins of its inputs and scalars, and the wanted nodes. The limits of kernels do not apply to this
/// graph, because only parts of it become kernels.
struct FusedGraph {
  ops::PointwiseGraph graph;  ///< A graph without outputs: `outputs` below has them.
  std::vector<int> outputs;
  std::vector<TensorOrigin> tensors;
  std::vector<ScalarOrigin> scalars;
};

/// The formula of a function: its results before their reductions.
struct Formula {
  FusedGraph fused;
  std::vector<Trailing> trailing;  ///< The reduction of each result.
};

/// The type of an argument, which is a tensor or a number.
struct ArgumentType {
  bool is_tensor = true;
  ops::OperandType type;
};

/// Whether the reduction is a maximum or a minimum.
inline bool is_extreme(const Trailing& trailing) {
  return trailing.kind == Trailing::Kind::max || trailing.kind == Trailing::Kind::min;
}

/// Makes a formula from expressions. Throws, naming op, for a reduction inside of an expression, for types that a row
/// does not accept, and for too many tensors, numbers or results.
Formula lower(const char* op, std::span<const ArgumentType> arguments, std::span<const Expr> results);

/// Copies a row, derivative or conversion to another graph. `copies` are the copies of the node's operands in that
/// graph.
int copy_node(ops::PointwiseGraph::Node node, const std::vector<int>& copies, ops::PointwiseGraph& to);

/// The part of a graph on which the nodes in `outputs` depend. These nodes are the outputs of the part.
FusedGraph extract(const FusedGraph& whole, std::span<const int> outputs);

/// The tensors on which a node depends: bit i stands for tensor i of the graph.
std::uint32_t tensors_read(const FusedGraph& whole, int node);

/// Adds two tensors to the graph: the stored elements of a result of this dtype, and their maximum or minimum. Returns
/// a node that is true where both are equal. NaN is equal to NaN here, because a maximum is NaN if an element is NaN.
int add_hits(FusedGraph& fused, std::size_t result, DType dtype);

/// Derivatives of a formula.
struct GradientGraph {
  /// The outputs are the gradients over the joint shape, each in the dtype of its tensor. There is one output for each
  /// wanted tensor that has a gradient.
  FusedGraph fused;
  std::vector<std::size_t> wanted;  ///< The tensor of the formula to which each output belongs.
  std::vector<bool> depends;        ///< Whether each result depends on a wanted tensor.
};

/// The gradient of all results with respect to the tensors in `wanted` (bits). It needs values that the formula
/// computed. They are computed again from the formula's tensors. A value is read from a result instead if this does
/// not need more tensors.
GradientGraph gradient_of(const Formula& formula, std::uint32_t wanted);

}  // namespace crisol::detail
