// The gradients of convolutions, which have gradients themselves. There are three functions: a convolution, its
// gradient with respect to the input, and its gradient with respect to the weight. Each is linear in both operands, and
// its gradients are the other two functions.
#pragma once

#include "autograd/call.h"
#include "crisol/ops/conv.h"

namespace crisol::autograd {

template <class Options>
struct ConvOps;

template <>
struct ConvOps<Conv2dOptions> {
  static Tensor forward(const Tensor& x, const Tensor& weight, const Conv2dOptions& o) {
    return ops::conv2d(x, weight, Tensor(), o);
  }
  static constexpr auto of_input = &ops::conv2d_backward_data;
  static constexpr auto of_weight = &ops::conv2d_backward_weight;
};

template <>
struct ConvOps<Conv3dOptions> {
  static Tensor forward(const Tensor& x, const Tensor& weight, const Conv3dOptions& o) {
    return ops::conv3d(x, weight, Tensor(), o);
  }
  static constexpr auto of_input = &ops::conv3d_backward_data;
  static constexpr auto of_weight = &ops::conv3d_backward_weight;
};

template <class Options>
Tensor conv_gradient_of_input(const char* op, const Tensor& dy, const Tensor& weight, const Shape& input,
                              const Options& options);
template <class Options>
Tensor conv_gradient_of_weight(const char* op, const Tensor& dy, const Tensor& x, const Shape& weight,
                               const Options& options);

/// A convolution without a bias.
template <class Options>
Tensor convolved(const char* op, const Tensor& x, const Tensor& weight, const Options& options) {
  return call(op, {x, weight}, ConvOps<Options>::forward(x, weight, options), unnoted, [&] {
    return [op, x = Saved(x), weight = Saved(weight), options](const Tensor& dy, Needs needs) {
      const Tensor &in = x.get(), &w = weight.get();
      Gradients gradients(2);
      if (needs[0]) gradients[0] = conv_gradient_of_input(op, dy, w, in.shape(), options);
      if (needs[1]) gradients[1] = conv_gradient_of_weight(op, dy, in, w.shape(), options);
      return gradients;
    };
  });
}

/// The gradient of an input of this shape. It is also the transposed convolution of dy.
template <class Options>
Tensor conv_gradient_of_input(const char* op, const Tensor& dy, const Tensor& weight, const Shape& input,
                              const Options& options) {
  return call(op, {dy, weight}, ConvOps<Options>::of_input(dy, weight, input, options), unnoted, [&] {
    return [op, dy = Saved(dy), weight = Saved(weight), options](const Tensor& ddx, Needs needs) {
      const Tensor& w = weight.get();
      Gradients gradients(2);
      if (needs[0]) gradients[0] = convolved(op, ddx, w, options);
      if (needs[1]) gradients[1] = conv_gradient_of_weight(op, dy.get(), ddx, w.shape(), options);
      return gradients;
    };
  });
}

/// The gradient of a weight of this shape.
template <class Options>
Tensor conv_gradient_of_weight(const char* op, const Tensor& dy, const Tensor& x, const Shape& weight,
                               const Options& options) {
  return call(op, {dy, x}, ConvOps<Options>::of_weight(dy, x, weight, options), unnoted, [&] {
    return [op, dy = Saved(dy), x = Saved(x), options](const Tensor& ddw, Needs needs) {
      Gradients gradients(2);
      if (needs[0]) gradients[0] = convolved(op, x.get(), ddw, options);
      if (needs[1]) gradients[1] = conv_gradient_of_input(op, dy.get(), ddw, x.get().shape(), options);
      return gradients;
    };
  });
}

}  // namespace crisol::autograd
