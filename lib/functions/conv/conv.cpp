#include "crisol/functions/conv.h"

#include "autograd/node.h"
#include "crisol/ops/reduce.h"
#include "functions/fuse/epilogue.h"
#include "functions/single_image.h"
#include "functions/traced/traced.h"
#include "ops/conv/conv2d_problem.h"
#include "ops/product/with_epilogue.h"

namespace crisol {

using autograd::Gradients;
using autograd::Needs;
using autograd::Saved;

namespace {

/// The gradients of a convolution, from the ops of its input and of its weight. `summed` are all axes but the channels.
template <auto backward_data, auto backward_weight, class Options>
auto conv_backward(const Tensor& input, const Tensor& filter, const Options& options, const Shape& summed) {
  return [x = Saved(input), weight = Saved(filter), options, summed](const Tensor& dy, Needs needs) {
    Gradients gradients(3);
    if (needs[0]) gradients[0] = backward_data(dy, weight.get(), x.get().shape(), options);
    if (needs[1]) gradients[1] = backward_weight(dy, x.get(), weight.get().shape(), options);
    if (needs[2]) gradients[2] = ops::sum(dy, summed);
    return gradients;
  };
}

auto conv2d_backward(const Tensor& input, const Tensor& filter, const Conv2dOptions& options) {
  return conv_backward<ops::conv2d_backward_data, ops::conv2d_backward_weight>(input, filter, options, {0, 2, 3});
}

}  // namespace

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options) {
  if (is_single(x)) return conv2d(x.unsqueeze(0), weight, bias, options).squeeze(0);
  const Tensor y = ops::conv2d(x, weight, bias, options);
  if (Recorder* r = recorder()) traced::conv(*r, x, weight, bias, options, y);
  if (!autograd::recording(x, weight, bias)) return y;
  return autograd::record("conv2d", y, {x, weight, bias}, conv2d_backward(x, weight, options));
}

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options,
              const Epilogue& epilogue) {
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
  if (is_single_volume(x)) return conv3d(x.unsqueeze(0), weight, bias, options).squeeze(0);
  const Tensor y = ops::conv3d(x, weight, bias, options);
  if (Recorder* r = recorder()) traced::conv(*r, x, weight, bias, options, y);
  if (!autograd::recording(x, weight, bias)) return y;
  return autograd::record(
      "conv3d", y, {x, weight, bias},
      conv_backward<ops::conv3d_backward_data, ops::conv3d_backward_weight>(x, weight, options, {0, 2, 3, 4}));
}

}  // namespace crisol
