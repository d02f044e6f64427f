// The common parts of the functions that read and write by index.
#pragma once

#include "crisol/tensor.h"

namespace crisol {

/// Whether scalars count as lines of one element. They do if all tensors are scalars or lines, as in PyTorch.
template <class... Tensors>
bool scalars_and_lines(const Tensors&... tensors) {
  return (tensors.defined() && ...) && ((tensors.dim() <= 1) && ...) && ((tensors.dim() == 0) || ...);
}

inline Tensor line(const Tensor& x) { return x.dim() == 0 ? x.reshape({1}) : x; }

/// Pads x with zeros at the end of every axis, up to `shape`.
Tensor grown_to(const Tensor& x, const Shape& shape);

}  // namespace crisol
