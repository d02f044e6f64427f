// One recording as a differentiable op: forward and backward are a few kernels without anything stored in between.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "autograd/node.h"
#include "functions/fuse/epilogue_form.h"
#include "functions/fuse/fused_backward.h"

namespace crisol::detail {

/// Safe to run from several threads. What it records keeps it alive.
class FusedOp : public std::enable_shared_from_this<FusedOp> {
 public:
  FusedOp(const char* op, Recording recording);

  /// The results, recorded where a gradient is wanted. All of the recording's tensors broadcast to one shape, which the
  /// results that are not reduced get.
  std::vector<Tensor> run(std::span<const FusedArgument> arguments) const;
  /// The results alone.
  std::vector<Tensor> forward(const FusedValues& values) const;

  const Recording& recording() const noexcept { return recording_; }
  /// Gradients with respect to some of the recording's tensors (bits).
  const FusedBackward& backward_for(std::uint32_t wanted) const;
  /// The recording as the last step of another op.
  const EpilogueForm& epilogue_form() const;
  std::string source() const;

 private:
  std::vector<Tensor> record(std::vector<Tensor> results, const FusedValues& values, std::uint32_t wanted) const;

  const char* op_;
  const Recording recording_;
  std::vector<FusedKernels> kernels_;                              ///< Of the results that are not reduced, some each,
  std::vector<std::vector<std::size_t>> stored_;                   ///< which are these.
  std::vector<std::unique_ptr<const FusedReduction>> reductions_;  ///< Of each result that is.
  mutable std::mutex mutex_;
  mutable std::map<std::uint32_t, FusedBackward> backwards_;
  mutable std::unique_ptr<const EpilogueForm> epilogue_form_;
};

/// What backward needs of one call: the tensors that it reads, and the numbers.
class FusedRecord {
 public:
  FusedRecord(const FusedOp& op, const FusedBackward& backward, const FusedValues& values);

  /// Gradients of the recording's tensors from those of the differentiable results.
  std::vector<Tensor> gradients(const autograd::Gradients& of_results) const;

 private:
  std::shared_ptr<const FusedOp> op_;
  const FusedBackward* backward_;
  std::vector<std::pair<TensorOrigin, autograd::Saved>> saved_;
  std::vector<FusedArgument> numbers_;  ///< The arguments, with undefined tensors.
  std::vector<Shape> shapes_;           ///< Of the recording's tensors.
  Shape shape_;
  Device device_;
};

}  // namespace crisol::detail
