// Graphs of rows that fuse() records: lowering, splitting, gradients.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "functions/fuse/expr_node.h"
#include "ops/pointwise/pointwise_graph.h"

namespace crisol::detail {

/// The largest numbers of tensors and of scalars that a function may have. The limit leaves room for the tensors that
/// the gradient's kernel also reads.
inline constexpr std::size_t max_tensors = 8, max_numbers = 8;

/// The source of a scalar of a graph at run time.
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

/// The source of a tensor of a graph.
struct TensorOrigin {
  enum class Kind : std::uint8_t {
    argument,
    result,
    gradient,
    elements,  ///< The elements that result `index` is the maximum or minimum of. Backward computes and stores them.
    extreme,   ///< The maximum or minimum of these stored elements.
  };
  Kind kind = Kind::argument;
  std::size_t index = 0;

  friend bool operator==(const TensorOrigin&, const TensorOrigin&) = default;
};

/// A graph, the sources of its inputs and scalars, and the wanted nodes. The limits of kernels do not apply to this
/// graph: only its parts become kernels.
struct FusedGraph {
  ops::PointwiseGraph graph;  ///< Has no outputs of its own.
  std::vector<int> outputs;
  std::vector<TensorOrigin> tensors;
  std::vector<ScalarOrigin> scalars;
};

/// The recording of a function: the value of each result before its reduction.
struct Recording {
  FusedGraph fused;
  std::vector<Trailing> trailing;  ///< One for each result.
};

/// The type of an argument, which is a tensor or a number.
struct ArgumentType {
  bool is_tensor = true;
  ops::OperandType type;
};

/// True for a maximum and a minimum.
inline bool is_extreme(const Trailing& trailing) {
  return trailing.kind == Trailing::Kind::max || trailing.kind == Trailing::Kind::min;
}

/// Makes a recording from expressions. Throws, naming op, for a reduction inside of an expression and for types that a
/// row does not accept. It also throws for too many tensors, numbers or results.
Recording lower(const char* op, std::span<const ArgumentType> arguments, std::span<const Expr> results);

/// Copies a row, derivative or conversion to another graph. `copies` has the copies of its operands in that graph.
int copy_node(ops::PointwiseGraph::Node node, const std::vector<int>& copies, ops::PointwiseGraph& to);

/// The part of a graph that the nodes in `outputs` need; these nodes are its outputs.
FusedGraph extract(const FusedGraph& whole, std::span<const int> outputs);

/// The tensors that a node needs: bit i is argument i of the graph's tensors.
std::uint32_t tensors_read(const FusedGraph& whole, int node);

/// Adds the stored elements of a result of this dtype and their maximum or minimum to the graph's tensors. Returns a
/// node that is true for equal elements. A maximum that is NaN came from a NaN, so two NaNs count as equal.
int add_hits(FusedGraph& fused, std::size_t result, DType dtype);

/// Derivatives of a recording.
struct GradientGraph {
  /// The outputs are the gradients over the joint shape, each in its tensor's dtype: one for each wanted tensor that
  /// has a gradient.
  FusedGraph fused;
  std::vector<std::size_t> wanted;  ///< The tensor of the recording that each output belongs to.
  std::vector<bool> depends;        ///< True for each result that depends on a wanted tensor.
};

/// The gradient of all results with respect to the tensors in `wanted` (bits). It needs values that the recording
/// computed. They are computed again from its tensors, or read from a result if this needs no more tensors.
GradientGraph gradient_of(const Recording& recording, std::uint32_t wanted);

}  // namespace crisol::detail
