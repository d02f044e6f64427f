#include "crisol/functions/conv.h"

#include "autograd/autocast.h"
#include "autograd/call.h"
#include "autograd/saved_for.h"
#include "crisol/functions/reduce.h"
#include "functions/conv/conv_gradients.h"
#include "functions/fuse/epilogue.h"
#include "functions/single_image.h"
#include "functions/traced/traced.h"
#include "ops/conv/conv2d_problem.h"
#include "ops/product/with_epilogue.h"

namespace crisol {

using autograd::call;
using autograd::Gradients;
using autograd::Needs;
using autograd::saved_for;

namespace {

/// The gradients of a convolution. `summed` are all axes except for the channels.
template <class Options>
auto conv_backward(const char* op, const Tensor& input, const Tensor& filter, const Options& options,
                   const Shape& summed) {
  return [op, x = saved_for(filter, input), weight = saved_for(input, filter), options, summed, of_x = input.shape(),
          of_weight = filter.shape()](const Tensor& dy, Needs needs) {
    Gradients gradients(3);
    if (needs[0]) gradients[0] = autograd::conv_gradient_of_input(op, dy, weight.get(), of_x, options);
    if (needs[1]) gradients[1] = autograd::conv_gradient_of_weight(op, dy, x.get(), of_weight, options);
    if (needs[2]) gradients[2] = sum(dy, summed);
    return gradients;
  };
}

auto conv2d_backward(const Tensor& input, const Tensor& filter, const Conv2dOptions& options) {
  return conv_backward("conv2d", input, filter, options, {0, 2, 3});
}

}  // namespace

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options) {
  if (const autograd::Autocasts casts("conv2d"); casts) return conv2d(casts(x), casts(weight), casts(bias), options);
  if (is_single(x)) return conv2d(x.unsqueeze(0), weight, bias, options).squeeze(0);
  return call(
      "conv2d", {x, weight, bias}, ops::conv2d(x, weight, bias, options),
      [&](Trace& trace, const Tensor& y) { traced::conv(trace, x, weight, bias, options, y); },
      [&] { return conv2d_backward(x, weight, options); });
}

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options,
              const Epilogue& epilogue) {
  if (const autograd::Autocasts casts("conv2d"); casts)
    return conv2d(casts(x), casts(weight), casts(bias), options, epilogue);
  if (is_single(x)) return conv2d(x.unsqueeze(0), weight, bias, options, epilogue).squeeze(0);
  const ops::Conv2dSizes sizes = ops::conv2d_sizes("conv2d", x.shape(), weight.shape(), options);
  return detail::run_with_epilogue(
      {.name = "conv2d",
       .layout = {.shape = sizes.output_shape(), .by_channel = true},
       .inputs = {x, weight, bias},
       .plain = [&] { return conv2d(x, weight, bias, options); },
       .raw = [&](const ops::ProductEpilogue& f) { return ops::conv2d(x, weight, bias, options, f); },
       .backward = [&] { return conv2d_backward(x, weight, options); }},
      epilogue);
}

Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv3dOptions& options) {
  if (const autograd::Autocasts casts("conv3d"); casts) return conv3d(casts(x), casts(weight), casts(bias), options);
  if (is_single_volume(x)) return conv3d(x.unsqueeze(0), weight, bias, options).squeeze(0);
  return call(
      "conv3d", {x, weight, bias}, ops::conv3d(x, weight, bias, options),
      [&](Trace& trace, const Tensor& y) { traced::conv(trace, x, weight, bias, options, y); },
      [&] {
        return conv_backward("conv3d", x, weight, options, {0, 2, 3, 4});
      });
}

}  // namespace crisol
