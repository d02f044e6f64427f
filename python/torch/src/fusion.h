// Graphs of torch.compile: chains of elementwise ops as one kernel each, and captured work.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crisol/captured_function.h"
#include "crisol/fuse.h"

namespace crisol_torch {

/// A value of a chain: a result before it (first the tensors, then the steps), or a number.
struct ChainOperand {
  std::int64_t value = -1;
  double number = 0;   ///< Counts if `value` is negative.
  bool whole = false;  ///< The number is a whole number.
};

/// A function of crisol/ops/pointwise.def, or "to NAME" with the name of a dtype.
struct ChainStep {
  std::string function;
  std::vector<ChainOperand> operands;
};

/// Several elementwise ops as one kernel.
class Chain {
 public:
  /// Refuses unknown functions and wrong numbers of operands. `results` are the values that a call returns.
  Chain(std::vector<ChainStep> steps, std::vector<std::int64_t> results, std::size_t inputs);
  std::vector<at::Tensor> operator()(const std::vector<at::Tensor>& inputs) const;
  /// This chain as the last step of an op, whose result is value 0. `others` are the next values.
  crisol::Epilogue epilogue(std::vector<crisol::Tensor> others) const;

 private:
  struct Program;
  static void trace(const void* program, const crisol::Expr* values, std::vector<crisol::Expr>& results);

  std::shared_ptr<const Program> program_;
  std::shared_ptr<crisol::detail::FusedFunction> fused_;
};

/// A product, or a convolution of images, with a chain of elementwise ops as its last step. The library computes both
/// in one kernel where it can.
class Ending {
 public:
  /// A matrix product, a linear layer (x, transposed weight, bias), or a convolution (x, weight, bias).
  enum class Op { product, linear, convolution };
  /// The settings of a convolution.
  struct Window {
    std::vector<std::int64_t> stride, padding, dilation;
    std::int64_t groups = 1;
  };

  /// `operands` is how many tensors the op reads: a convolution may have no bias. Value 0 of the steps is the result of
  /// the op, and the next ones are `inputs` - 1 tensors. The last step is the result.
  Ending(Op op, std::size_t operands, std::vector<ChainStep> steps, std::size_t inputs, Window window);
  /// The op's operands, and then the tensors of the steps.
  at::Tensor operator()(const std::vector<at::Tensor>& inputs) const;

 private:
  const Op op_;
  const std::size_t operands_, inputs_;
  const Window window_;
  const Chain chain_;
};

/// A function of tensors whose commands are queued again in each call.
class CapturedGraph {
 public:
  using Function = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>& inputs)>;

  /// See crisol::detail::CapturedFunction. `results` gets the results of the first call.
  CapturedGraph(const Function& function, const std::vector<at::Tensor>& inputs,
                const std::vector<std::size_t>& constants, std::vector<at::Tensor>& results);
  /// Nothing if the commands do not hold for these inputs.
  std::optional<std::vector<at::Tensor>> operator()(const std::vector<at::Tensor>& inputs) const;
  std::size_t size() const noexcept { return function_->size(); }

 private:
  std::shared_ptr<const crisol::detail::CapturedFunction> function_;
};

/// The names of the functions of a chain.
std::vector<std::string> chain_functions();

}  // namespace crisol_torch
