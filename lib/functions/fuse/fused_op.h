// One formula as a differentiable op. Forward and backward are a few kernels each. Forward stores no intermediate
// values, and backward stores only the elements of a maximum or minimum.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "autograd/node.h"
#include "functions/fuse/fused_backward.h"
#include "ops/product/epilogue.h"

namespace crisol::detail {

/// May be used by several threads. The autograd records that it makes keep it alive.
class FusedOp : public std::enable_shared_from_this<FusedOp> {
 public:
  FusedOp(const char* op, Formula formula);

  /// Computes the results, and records them if a gradient is wanted. All of the formula's tensors broadcast to one
  /// shape. A result without a reduction has this shape.
  std::vector<Tensor> run(std::span<const FusedArgument> arguments) const;
  /// The same, as calls of functions of crisol/functions/, one after another.
  std::vector<Tensor> run_as_functions(std::span<const FusedArgument> arguments) const;
  /// Computes the results without noting them for backward.
  std::vector<Tensor> forward(const FusedValues& values) const;

  const Formula& formula() const noexcept { return formula_; }
  /// The backward function with respect to some of the formula's tensors (bits).
  const FusedBackward& backward_for(std::uint32_t wanted) const;
  /// The formula as the epilogue of a product: argument 0 is the product's result, and the formula's other tensors are
  /// the operands, whose layouts are left open. Nothing if no kernel can apply the formula.
  const std::optional<ops::EpilogueLayout>& epilogue() const;
  std::string source() const;

 private:
  /// Checks the tensors, and finds the shape to which they broadcast.
  FusedValues values_of(std::span<const FusedArgument> arguments) const;
  std::vector<Tensor> record(std::vector<Tensor> results, const FusedValues& values, std::uint32_t wanted) const;

  const char* op_;
  const Formula formula_;
  std::vector<FusedKernels> kernels_;                              ///< Kernels for the results that are not reduced.
  std::vector<std::vector<std::size_t>> stored_;                   ///< The results that each of kernels_ computes.
  std::vector<std::unique_ptr<const FusedReduction>> reductions_;  ///< One entry for each result that is reduced.
  mutable std::mutex mutex_;
  mutable std::map<std::uint32_t, FusedBackward> backwards_;
  mutable std::optional<std::optional<ops::EpilogueLayout>> epilogue_;
};

/// The data of one call that backward needs: the tensors that it reads, and the numbers.
class FusedCall {
 public:
  FusedCall(const FusedOp& op, const FusedBackward& backward, const FusedValues& values);

  /// Computes the gradients of the formula's tensors from the gradients of the differentiable results.
  std::vector<Tensor> gradients(const autograd::Gradients& of_results) const;

 private:
  std::shared_ptr<const FusedOp> op_;
  const FusedBackward* backward_;
  std::vector<std::pair<std::size_t, autograd::Saved>> arguments_;      ///< The saved arguments, with their positions.
  std::vector<std::pair<std::size_t, autograd::SavedResult>> results_;  ///< The saved results, with their positions.
  std::vector<FusedArgument> numbers_;  ///< The arguments. Undefined tensors take the place of tensors.
  std::vector<Shape> shapes_;           ///< The shapes of the formula's tensors.
  Shape shape_;
  Device device_;
};

}  // namespace crisol::detail
