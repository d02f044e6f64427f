// Chains of elementwise ops that torch.compile found, as one kernel each.
#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <string>
#include <vector>

namespace crisol::detail {
class FusedFunction;
}

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

 private:
  struct Program;
  std::shared_ptr<const Program> program_;
  std::shared_ptr<crisol::detail::FusedFunction> fused_;
};

/// The names of the functions of a chain.
std::vector<std::string> chain_functions();

}  // namespace crisol_torch
