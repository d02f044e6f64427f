// Layers that merge and divide axes.
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

/// Divides an axis into axes of the sizes `sizes`. One size may be -1, and is then computed.
class CRISOL_API Unflatten : public Module {
 public:
  Unflatten(int axis, const Shape& sizes) : axis_(axis), sizes_(sizes) {}
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
  int axis() const noexcept { return axis_; }             ///< The axis that is divided.
  const Shape& sizes() const noexcept { return sizes_; }  ///< The sizes of the axes that replace it.

 private:
  int axis_;
  Shape sizes_;
};

}  // namespace crisol::nn
