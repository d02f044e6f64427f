// Layer that merges axes.
#pragma once

#include "crisol/nn/module.h"

namespace crisol::nn {

/// y = x.flatten(first, last). By default (N, …) becomes (N, product of the other sizes).
class CRISOL_API Flatten : public Module {
 public:
  explicit Flatten(int first = 1, int last = -1) : first_(first), last_(last) {}
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
  int first() const noexcept { return first_; }  ///< The first axis.
  int last() const noexcept { return last_; }    ///< The last axis.

 private:
  int first_, last_;
};

}  // namespace crisol::nn
