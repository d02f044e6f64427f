// Reductions whose elements are an expression of several tensors: nothing but the result is written.
#pragma once

#include <map>
#include <mutex>
#include <span>
#include <string>

#include "crisol/scalar.h"
#include "crisol/tensor.h"
#include "ops/pointwise/pointwise_graph.h"
#include "ops/reduce/reduce_launch.h"

namespace crisol::ops {

/// The kernels of cl_kernels/reduce.cl over the one output of a graph. Made without OpenCL; equal graphs share
/// programs.
class GraphReduction {
 public:
  explicit GraphReduction(const PointwiseGraph& graph) : graph_(graph) {}

  using Inputs = std::span<const Tensor* const>;
  using Scalars = std::span<const Scalar>;

  /// The expression over `shape`, to which the inputs broadcast, reduced over `axes` (none: all of them). The caller
  /// has checked the inputs, and that there are elements where the reduction needs them.
  Tensor run(const Reduction& reduction, Inputs inputs, Scalars scalars, const Shape& shape, const Shape& axes,
             bool keepdim) const;

  /// The generated part of the program for vectors of `width`.
  const std::string& prelude(int width) const;

 private:
  const PointwiseGraph graph_;
  mutable std::mutex mutex_;
  mutable std::map<int, std::string> preludes_;
};

}  // namespace crisol::ops
