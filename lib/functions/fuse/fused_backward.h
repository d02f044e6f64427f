// The gradient of one recording with respect to some of its tensors.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "functions/fuse/fused_kernels.h"

namespace crisol::detail {

class FusedBackward {
 public:
  FusedBackward(const char* op, const Recording& recording, std::uint32_t wanted);

  /// Tensors that run() reads beside the gradients: arguments and results.
  const std::vector<TensorOrigin>& reads() const noexcept { return reads_; }

  /// Results that change with a wanted tensor.
  const std::vector<std::size_t>& differentiable() const noexcept { return differentiable_; }

  /// One gradient for each tensor of the recording, undefined where it is not wanted or nothing depends on it. `values`
  /// has the results, the gradients of those that are
  /// differentiable, undefined where there is none; `shapes` are those of the tensors.
  /// Gradients of tensors that have the joint shape come from one kernel; those of others are summed in one of their
  /// own. What is computed in between is stored nowhere.
  std::vector<Tensor> run(const FusedValues& values, std::span<const Shape> shapes) const;

 private:
  Tensor prepared_gradient(std::size_t result, const FusedValues& values) const;
  const FusedKernels& kernels_for(std::span<const int> outputs) const;
  const FusedReduction& reduction_for(std::size_t output) const;

  const char* op_;
  const GradientGraph gradient_;
  std::vector<TensorOrigin> reads_;
  std::vector<std::size_t> differentiable_;
  std::vector<DType> result_types_;
  std::vector<std::unique_ptr<const FusedReduction>> ties_;  ///< Of each result that is a max or min.
  mutable std::mutex mutex_;
  mutable std::map<std::vector<int>, FusedKernels> kernels_;
  mutable std::map<std::size_t, FusedReduction> reductions_;
};

}  // namespace crisol::detail
