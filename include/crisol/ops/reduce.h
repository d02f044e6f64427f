// Raw reductions over any axes of a tensor with any strides, not recorded by autograd.
//
// `axes` are the reduced axes. Negative axes count from the end, and an empty list means all axes. One axis may be a
// plain number. The result lacks the reduced axes, or with keepdim has size 1 there. A scalar (rank 0) has the axes 0
// and -1.
//
// Elements are combined in a fixed order, so the same device always gives the same bits. Sums also add up their
// rounding errors, so their error stays at a few roundings for any number of elements. f16 is computed in float, and
// the result is f16 again. Errors (invalid_argument): an undefined tensor, a dtype that the function does not take, an
// axis out of range or named twice.
#pragma once

#include "crisol/tensor.h"

namespace crisol::ops {

/// The sum; 0 for no elements. Integers and bool are added as i64.
CRISOL_API Tensor sum(const Tensor& x, const Shape& axes = {}, bool keepdim = false);
CRISOL_API void sum_into(const Tensor& out, const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The mean of f32, f16 or f64; NaN for no elements, because 0 / 0 has no value.
CRISOL_API Tensor mean(const Tensor& x, const Shape& axes = {}, bool keepdim = false);
CRISOL_API void mean_into(const Tensor& out, const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The product; 1 for no elements. Integers and bool are multiplied as i64.
CRISOL_API Tensor prod(const Tensor& x, const Shape& axes = {}, bool keepdim = false);
CRISOL_API void prod_into(const Tensor& out, const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The largest element, or NaN if an element is NaN. Takes any dtype. Refuses to reduce no elements.
CRISOL_API Tensor max(const Tensor& x, const Shape& axes = {}, bool keepdim = false);
CRISOL_API void max_into(const Tensor& out, const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The smallest element, or NaN if an element is NaN. Takes any dtype. Refuses to reduce no elements.
CRISOL_API Tensor min(const Tensor& x, const Shape& axes = {}, bool keepdim = false);
CRISOL_API void min_into(const Tensor& out, const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The position (i64) of the first largest element. NaN counts as the largest. Positions count the elements of the
/// reduced axes, outermost axis first. Refuses to reduce no elements.
CRISOL_API Tensor argmax(const Tensor& x, const Shape& axes = {}, bool keepdim = false);
CRISOL_API void argmax_into(const Tensor& out, const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The position (i64) of the first smallest element; otherwise like argmax.
CRISOL_API Tensor argmin(const Tensor& x, const Shape& axes = {}, bool keepdim = false);
CRISOL_API void argmin_into(const Tensor& out, const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The largest elements along one axis and their positions, like max and argmax, in one pass.
CRISOL_API ExtremeResult max_with_indices(const Tensor& x, int axis, bool keepdim = false);
CRISOL_API void max_with_indices_into(const Tensor& values, const Tensor& indices, const Tensor& x, int axis,
                                      bool keepdim = false);

/// The smallest elements along one axis and their positions, like min and argmin, in one pass.
CRISOL_API ExtremeResult min_with_indices(const Tensor& x, int axis, bool keepdim = false);
CRISOL_API void min_with_indices_into(const Tensor& values, const Tensor& indices, const Tensor& x, int axis,
                                      bool keepdim = false);

/// Whether any element differs from 0, as bool. NaN differs from 0. false for no elements.
CRISOL_API Tensor any(const Tensor& x, const Shape& axes = {}, bool keepdim = false);
CRISOL_API void any_into(const Tensor& out, const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// Whether all elements differ from 0, as bool. true for no elements.
CRISOL_API Tensor all(const Tensor& x, const Shape& axes = {}, bool keepdim = false);
CRISOL_API void all_into(const Tensor& out, const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The variance of f32, f16 or f64: sum (x - mean)^2 / max(0, n - correction), where n is the number of elements.
/// Correction 0 gives the variance of the elements. Correction 1 estimates the variance of the distribution that they
/// were drawn from. The result is accurate even if the mean is large, because the means and squares of blocks are
/// merged (Chan, Golub and LeVeque 1983).
CRISOL_API Tensor var(const Tensor& x, const Shape& axes = {}, bool keepdim = false, double correction = 1);
CRISOL_API void var_into(const Tensor& out, const Tensor& x, const Shape& axes = {}, bool keepdim = false,
                         double correction = 1);

/// The square root of var. PyTorch calls it std, which is a namespace in C++.
CRISOL_API Tensor stddev(const Tensor& x, const Shape& axes = {}, bool keepdim = false, double correction = 1);
CRISOL_API void stddev_into(const Tensor& out, const Tensor& x, const Shape& axes = {}, bool keepdim = false,
                            double correction = 1);

/// The p-norm of f32, f16 or f64: (sum |x|^p)^(1/p). p = 0 gives the number of elements that are not 0. p = infinity
/// gives max |x|, p = -infinity min |x|; both refuse to reduce no elements. Refuses p = NaN.
CRISOL_API Tensor norm(const Tensor& x, double p = 2, const Shape& axes = {}, bool keepdim = false);
CRISOL_API void norm_into(const Tensor& out, const Tensor& x, double p = 2, const Shape& axes = {},
                          bool keepdim = false);

/// log sum exp x of f32, f16 or f64, without overflow. -inf for no elements, and if all elements are -inf.
CRISOL_API Tensor logsumexp(const Tensor& x, const Shape& axes = {}, bool keepdim = false);
CRISOL_API void logsumexp_into(const Tensor& out, const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The running sum y[i] = x[0] + … + x[i] along an axis, in the shape of x. Integers and bool give i64.
CRISOL_API Tensor cumsum(const Tensor& x, int axis);
CRISOL_API void cumsum_into(const Tensor& out, const Tensor& x, int axis);

/// The running product y[i] = x[0] … x[i] along an axis, in the shape of x. Integers and bool give i64.
CRISOL_API Tensor cumprod(const Tensor& x, int axis);
CRISOL_API void cumprod_into(const Tensor& out, const Tensor& x, int axis);

/// The running sum of exponentials y[i] = log(exp x[0] + … + exp x[i]) of f32, f16 or f64 along an axis, without
/// overflow.
CRISOL_API Tensor logcumsumexp(const Tensor& x, int axis);
CRISOL_API void logcumsumexp_into(const Tensor& out, const Tensor& x, int axis);

/// Sums x to `shape`, which must broadcast to the shape of x. It turns the gradient of a broadcast input into the
/// gradient of the input. Returns x itself if the shapes are equal.
CRISOL_API Tensor sum_to(const Tensor& x, const Shape& shape);

// Gradients of f32. In dy and in the result y, the reduced axes are missing or have size 1.

/// Gradient of sum: dy repeated to x_shape, as a view.
CRISOL_API Tensor sum_backward(const Tensor& dy, const Shape& x_shape, const Shape& axes = {});

/// Gradient of mean: dy divided by the number of reduced elements and repeated to x_shape.
CRISOL_API Tensor mean_backward(const Tensor& dy, const Shape& x_shape, const Shape& axes = {});

/// Gradient of prod: dy times the product of the other elements. It is right even if some elements are 0.
CRISOL_API Tensor prod_backward(const Tensor& dy, const Tensor& x, const Shape& axes = {});

/// Gradient of max and of min with the result y. dy goes to the element that equals y. If several elements equal y,
/// they get equal parts of dy, as in PyTorch's amax.
CRISOL_API Tensor max_backward(const Tensor& dy, const Tensor& x, const Tensor& y, const Shape& axes = {});

/// Gradient of the values of max_with_indices and min_with_indices: dy at the indices, and 0 elsewhere.
CRISOL_API Tensor max_with_indices_backward(const Tensor& dy, const Tensor& indices, const Shape& x_shape, int axis);

/// Gradient of var: 2 dy (x - mean) / max(0, n - correction).
CRISOL_API Tensor var_backward(const Tensor& dy, const Tensor& x, const Shape& axes = {}, double correction = 1);

/// Gradient of stddev with the result y: dy (x - mean) / (y max(0, n - correction)), and 0 if y is 0.
CRISOL_API Tensor stddev_backward(const Tensor& dy, const Tensor& x, const Tensor& y, const Shape& axes = {},
                                  double correction = 1);

/// Gradient of norm with the result y: dy x |x|^(p-2) / y^(p-1), and 0 if x or y is 0. For p = infinity and -infinity,
/// the elements of magnitude y get equal parts of dy, with the sign of x. For p = 0 it is 0.
CRISOL_API Tensor norm_backward(const Tensor& dy, const Tensor& x, const Tensor& y, double p = 2,
                                const Shape& axes = {});

/// Gradient of logsumexp with the result y: dy exp(x - y).
CRISOL_API Tensor logsumexp_backward(const Tensor& dy, const Tensor& x, const Tensor& y, const Shape& axes = {});

/// Gradient of cumsum: dy[i] + … + dy[n-1] along the axis.
CRISOL_API Tensor cumsum_backward(const Tensor& dy, int axis);

/// Gradient of cumprod with the result y: the sum over j >= i of dy[j] times the product of all x[0] … x[j] except
/// x[i]. It is right even if elements are 0.
CRISOL_API Tensor cumprod_backward(const Tensor& dy, const Tensor& x, const Tensor& y, int axis);

/// Gradient of logcumsumexp with the result y: the sum over j >= i of dy[j] exp(x[i] - y[j]). All have the dtype of x.
CRISOL_API Tensor logcumsumexp_backward(const Tensor& dy, const Tensor& x, const Tensor& y, int axis);

}  // namespace crisol::ops
