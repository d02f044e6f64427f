// Raw reductions over any set of axes of a tensor of any strides. Not recorded by autograd.
//
// `axes` names the axes that disappear (negative ones count from the end; empty means all of them); with keepdim they
// stay with size 1. Each reduction combines its elements in a fixed order, so that the same device gives the same bits
// every time, and sums block by block, pairwise: the error grows with the logarithm of the number of elements.
// Errors (invalid_argument): an undefined tensor, a dtype other than f32, an axis out of range or named twice.
#pragma once

#include "crisol/tensor.h"

namespace crisol::ops {

/// The sum; 0 over no elements.
CRISOL_API Tensor sum(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The sum divided by the number of elements; NaN over no elements.
CRISOL_API Tensor mean(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The largest element, NaN if there is one; refuses to reduce no elements.
CRISOL_API Tensor max(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The smallest element, NaN if there is one; refuses to reduce no elements.
CRISOL_API Tensor min(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// Position (i64) of the first largest element in the order of the reduced axes, outermost first; that of the first NaN
/// if there is one. Refuses to reduce no elements.
CRISOL_API Tensor argmax(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// x summed over the axes along which `shape` broadcasts to x's shape: takes the gradient of a broadcast input back to
/// that input. x itself where the shapes are equal.
CRISOL_API Tensor sum_to(const Tensor& x, const Shape& shape);

/// Gradient of sum: dy (with or without the reduced axes) repeated over x_shape; a view.
CRISOL_API Tensor sum_backward(const Tensor& dy, const Shape& x_shape, const Shape& axes = {});

/// Gradient of mean: dy / (number of elements reduced), repeated over x_shape.
CRISOL_API Tensor mean_backward(const Tensor& dy, const Shape& x_shape, const Shape& axes = {});

/// Gradient of max and of min, whose result y was: dy goes to the elements equal to y, in equal parts where there are
/// several (as PyTorch's amax does).
CRISOL_API Tensor max_backward(const Tensor& dy, const Tensor& x, const Tensor& y, const Shape& axes = {});

}  // namespace crisol::ops
