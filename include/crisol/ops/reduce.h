// Raw reductions over any set of axes of a tensor of any strides. Not recorded by autograd.
//
// `axes` names the axes that disappear (negative ones count from the end; empty means all of them); with keepdim they
// stay with size 1. One axis may be a plain number. A scalar (rank 0) has the axes 0 and -1. Elements are combined in a
// fixed order, so that the same device gives the same bits every time. Sums carry their rounding errors along: they are
// exact to a few roundings, however many elements there are. f16 is computed in float; the results of f16 are f16
// again. Errors (invalid_argument): an undefined tensor, a dtype that the function does not take, an axis out of range
// or named twice.
#pragma once

#include "crisol/tensor.h"

namespace crisol::ops {

/// The sum; 0 over no elements. Integers and bool are added up as i64.
CRISOL_API Tensor sum(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The sum of f32 or f16 divided by the number of elements; NaN over no elements, because 0 / 0 has no value.
CRISOL_API Tensor mean(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The product; 1 over no elements. Integers and bool are multiplied as i64.
CRISOL_API Tensor prod(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The largest element of any dtype, NaN if there is one; refuses to reduce no elements.
CRISOL_API Tensor max(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The smallest element of any dtype, NaN if there is one; refuses to reduce no elements.
CRISOL_API Tensor min(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// Position (i64) of the first largest element in the order of the reduced axes, outermost first; that of the first NaN
/// if there is one. Refuses to reduce no elements.
CRISOL_API Tensor argmax(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// Position (i64) of the first smallest element; else as argmax.
CRISOL_API Tensor argmin(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The largest elements along one axis, as max, with their positions, as argmax, in one pass.
CRISOL_API ExtremeResult max_with_indices(const Tensor& x, int axis, bool keepdim = false);

/// The smallest elements along one axis, as min, with their positions, as argmin, in one pass.
CRISOL_API ExtremeResult min_with_indices(const Tensor& x, int axis, bool keepdim = false);

/// Whether any element is not 0 (NaN is not), as bool; false over no elements.
CRISOL_API Tensor any(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// Whether no element is 0, as bool; true over no elements.
CRISOL_API Tensor all(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// sum (x - mean)^2 / max(0, n - correction) of f32 or f16, n the number of elements: correction 1 estimates the
/// variance of what they were drawn from, 0 gives that of the elements. Exact also where the mean is large (blocks'
/// means and squares are merged: Chan, Golub and LeVeque 1983).
CRISOL_API Tensor var(const Tensor& x, const Shape& axes = {}, bool keepdim = false, double correction = 1);

/// The square root of var (PyTorch's std; `std` is the namespace).
CRISOL_API Tensor stddev(const Tensor& x, const Shape& axes = {}, bool keepdim = false, double correction = 1);

/// (sum |x|^p)^(1/p) of f32 or f16; for p = 0 the number of elements that are not 0, for infinity max |x|, for
/// -infinity min |x| (these two refuse to reduce no elements). Refuses p = NaN.
CRISOL_API Tensor norm(const Tensor& x, double p = 2, const Shape& axes = {}, bool keepdim = false);

/// log sum exp x of f32 or f16, without overflow; -inf over no elements or where all are -inf.
CRISOL_API Tensor logsumexp(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// x[0] + … + x[i] along an axis, in every place i, of x's shape. Integers and bool give i64.
CRISOL_API Tensor cumsum(const Tensor& x, int axis);

/// x summed over the axes along which `shape` broadcasts to x's shape: takes the gradient of a broadcast input back to
/// that input. x itself where the shapes are equal.
CRISOL_API Tensor sum_to(const Tensor& x, const Shape& shape);

// Gradients, of f32. dy and the result y may have the reduced axes or not.

/// Gradient of sum: dy repeated over x_shape; a view.
CRISOL_API Tensor sum_backward(const Tensor& dy, const Shape& x_shape, const Shape& axes = {});

/// Gradient of mean: dy / (number of elements reduced), repeated over x_shape.
CRISOL_API Tensor mean_backward(const Tensor& dy, const Shape& x_shape, const Shape& axes = {});

/// Gradient of prod: dy times the product of the other elements, also where some are 0.
CRISOL_API Tensor prod_backward(const Tensor& dy, const Tensor& x, const Shape& axes = {});

/// Gradient of max and of min, whose result y was: dy goes to the elements equal to y, in equal parts where there are
/// several (as PyTorch's amax does).
CRISOL_API Tensor max_backward(const Tensor& dy, const Tensor& x, const Tensor& y, const Shape& axes = {});

/// Gradient of the values of max_with_indices and min_with_indices: dy at the indices, 0 elsewhere.
CRISOL_API Tensor max_with_indices_backward(const Tensor& dy, const Tensor& indices, const Shape& x_shape, int axis);

/// Gradient of var: 2 dy (x - mean) / max(0, n - correction).
CRISOL_API Tensor var_backward(const Tensor& dy, const Tensor& x, const Shape& axes = {}, double correction = 1);

/// Gradient of stddev, whose result y was: dy (x - mean) / (y max(0, n - correction)), 0 where y is 0.
CRISOL_API Tensor stddev_backward(const Tensor& dy, const Tensor& x, const Tensor& y, const Shape& axes = {},
                                  double correction = 1);

/// Gradient of norm, whose result y was: dy x |x|^(p-2) / y^(p-1), 0 where x or y is 0; for infinity dy goes to the
/// elements of magnitude y, in equal parts.
CRISOL_API Tensor norm_backward(const Tensor& dy, const Tensor& x, const Tensor& y, double p = 2,
                                const Shape& axes = {});

/// Gradient of logsumexp, whose result y was: dy exp(x - y).
CRISOL_API Tensor logsumexp_backward(const Tensor& dy, const Tensor& x, const Tensor& y, const Shape& axes = {});

/// Gradient of cumsum: dy[i] + … + dy[n-1] along the axis.
CRISOL_API Tensor cumsum_backward(const Tensor& dy, int axis);

}  // namespace crisol::ops
