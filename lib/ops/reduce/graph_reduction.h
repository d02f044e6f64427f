// Reductions of an expression of several tensors. Only the result is written to memory.
#pragma once

#include <span>
#include <string>

#include "crisol/scalar.h"
#include "crisol/tensor.h"
#include "ops/pointwise/pointwise_graph.h"
#include "ops/reduce/reduce_tensor.h"

namespace crisol::ops {

/// The kernels of cl_kernels/reduce/ for a graph with one output. The object is made without OpenCL. Equal graphs share
/// programs.
class GraphReduction {
 public:
  explicit GraphReduction(const PointwiseGraph& graph);

  using Inputs = std::span<const Tensor* const>;
  using Scalars = std::span<const Scalar>;

  /// Reduces the expression over `axes`, or over all axes if `axes` is empty. The inputs broadcast to `shape`. The
  /// caller has checked the inputs, and that there are elements if the reduction needs them.
  Tensor run(const ReduceRule& reduction, Inputs inputs, Scalars scalars, const Shape& shape, const Shape& axes,
             bool keepdim) const;

  /// The generated part of the program for vectors of `width`.
  std::string prelude(int width) const;

 private:
  const PointwiseGraph graph_;
  const std::uint32_t prelude_;  ///< An interned text, in which width_mark stands for the width.
};

}  // namespace crisol::ops
