// The gradient of one formula with respect to some of its tensors.
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
  FusedBackward(const char* op, const Formula& formula, std::uint32_t wanted);

  /// The arguments and results that run() reads, in addition to the gradients.
  const std::vector<TensorOrigin>& reads() const noexcept { return reads_; }

  /// The results that depend on a wanted tensor.
  const std::vector<std::size_t>& differentiable() const noexcept { return differentiable_; }

  /// Returns one gradient for each tensor of the formula. It is undefined if it is not wanted, or if no result
  /// depends on the tensor. `values` holds the results, and the gradients of the differentiable results: a missing
  /// gradient is undefined. `shapes` holds the shapes of the tensors. One kernel computes the gradients of all tensors
  /// that have the joint shape. Each other gradient is summed by a kernel of its own. No intermediate values are
  /// stored, except for the elements of a maximum or minimum.
  std::vector<Tensor> run(const FusedValues& values, std::span<const Shape> shapes) const;

 private:
  /// The kernels for a result that is a maximum or minimum. They store the elements over which the result was taken,
  /// and all other kernels compare the stored elements, because two kernels may round the same expression differently.
  struct Extreme {
    FusedKernels elements;
    FusedReduction ties;  ///< The number of elements that share the gradient.
  };
  /// Values that run() computes first. The index of an array is the number of the result.
  struct Prepared {
    std::vector<Tensor> results, gradients, elements, extremes;
  };

  Prepared prepare(const FusedValues& given) const;
  std::vector<Tensor> run_fused(const FusedValues& values, std::span<const Shape> shapes) const;
  /// The same as run_fused(), but made of differentiable functions, node by node, for gradients of gradients.
  std::vector<Tensor> run_differentiable(const FusedValues& values, std::span<const Shape> shapes) const;
  const FusedKernels& kernels_for(std::span<const int> outputs) const;
  const FusedReduction& reduction_for(std::size_t output) const;

  const char* op_;
  const GradientGraph gradient_;
  std::vector<TensorOrigin> reads_;
  std::vector<std::size_t> differentiable_;
  std::vector<DType> result_types_;
  std::vector<std::unique_ptr<const Extreme>> extremes_;  ///< One entry for each result that is a max or min.
  mutable std::mutex mutex_;
  mutable std::map<std::vector<int>, FusedKernels> kernels_;
  mutable std::map<std::size_t, FusedReduction> reductions_;
};

}  // namespace crisol::detail
