// Runs parts of a formula's graph.
#pragma once

#include <span>
#include <string>

#include "crisol/fuse.h"
#include "functions/fuse/fused_graph.h"
#include "ops/pointwise/pointwise_kernels.h"
#include "ops/reduce/graph_reduction.h"

namespace crisol::detail {

/// The tensors and numbers of one call, to which the origins in a graph refer.
struct FusedValues {
  std::span<const FusedArgument> arguments;
  Shape shape;                         ///< The shape to which all of the formula's tensors broadcast.
  std::span<const Trailing> trailing;  ///< The reduction of each result.
  Device device;
  std::span<const Tensor> results{}, gradients{}, elements{}, extremes{};

  const Tensor& tensor(const TensorOrigin& origin) const;
  Scalar scalar(const ScalarOrigin& origin) const;
};

/// The axes over which a result is reduced, as ops::sum takes them.
inline Shape axes_of(const Trailing& trailing) { return trailing.last_axis ? Shape{-1} : Shape{}; }

/// The number of elements that are reduced to one value of a result, for elements of this shape.
std::int64_t reduced_count(const Trailing& trailing, const Shape& shape);

/// Outputs of a graph that one kernel computes.
class FusedKernels {
 public:
  FusedKernels(const FusedGraph& whole, std::span<const int> outputs);

  void run(const char* op, const FusedValues& values, std::span<Tensor> outputs) const;
  /// Computes over the shape of the outputs.
  void run_into(const char* op, const FusedValues& values, std::span<const Tensor> outputs) const;
  const std::vector<TensorOrigin>& tensors() const noexcept { return fused_.tensors; }
  std::string source() const;

 private:
  const FusedGraph fused_;
  const ops::PointwiseKernels& kernels_;
};

/// One node of a graph, followed by a reduction.
class FusedReduction {
 public:
  FusedReduction(const FusedGraph& whole, int output);

  Tensor run(const ops::ReduceRule& reduction, const FusedValues& values, const Shape& axes, bool keepdim) const;
  std::string source() const { return reduction_.prelude(16); }

 private:
  const FusedGraph fused_;
  const ops::GraphReduction reduction_;
};

/// The ops::ReduceRule for a kind of trailing reduction. `op` is for messages.
ops::ReduceRule reduction_of(const char* op, Trailing::Kind kind);

}  // namespace crisol::detail
