// The kernels of one expression graph (cl_kernels/pointwise.cl) and their launch over tensors.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "crisol/scalar.h"
#include "crisol/tensor.h"
#include "ops/pointwise_graph.h"
#include "runtime/launch.h"

namespace crisol::ops {

/// Made once for each graph, without OpenCL; compiled when first run, a kernel for each device and form (contiguous,
/// strided, …) but not for shapes. Lives for the whole process.
class PointwiseKernels {
 public:
  explicit PointwiseKernels(const PointwiseGraph& graph);
  PointwiseKernels(const PointwiseKernels&) = delete;
  PointwiseKernels& operator=(const PointwiseKernels&) = delete;

  using Inputs = std::span<const Tensor* const>;
  using Scalars = std::span<const Scalar>;

  /// New contiguous tensors, one for each output, of the shape that the inputs broadcast to. Refuses, naming op:
  /// undefined tensors, other dtypes than the graph's, two devices, shapes that do not broadcast.
  void run(const char* op, Inputs inputs, Scalars scalars, std::span<Tensor> outputs) const;
  /// Writes to existing tensors of one shape and any strides, to which the inputs broadcast. An input may be an output
  /// itself, but not overlap one otherwise. Refuses besides: expanded outputs.
  void run_into(const char* op, Inputs inputs, Scalars scalars, std::span<const Tensor> outputs) const;

  const PointwiseGraph& graph() const noexcept { return graph_; }

 private:
  PointwiseGraph graph_;
};

/// The kernels of a graph: those made before for an equal one, else new ones.
const PointwiseKernels& kernels_of(const PointwiseGraph& graph);

}  // namespace crisol::ops
