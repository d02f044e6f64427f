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

auto conv2d_backward(const Tensor& input, const Tensor& filter, const Conv2dOptions& options) {
  return [x = Saved(input), weight = Saved(filter), options](const Tensor& dy, Needs needs) {
    Gradients gradients(3);
    if (needs[0]) gradients[0] = ops::conv2d_backward_data(dy, weight.get(), x.get().shape(), options);
    if (needs[1]) gradients[1] = ops::conv2d_backward_weight(dy, x.get(), weight.get().shape(), options);
    if (needs[2]) gradients[2] = ops::sum(dy, {0, 2, 3});
    return gradients;
  };
}

}  // namespace

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options) {
  if (is_single(x)) return conv2d(x.unsqueeze(0), weight, bias, options).squeeze(0);
  const Tensor y = ops::conv2d(x, weight, bias, options);
  if (Recorder* r = recorder()) traced::conv2d(*r, x, weight, bias, options, y);
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
       .raw = [&](const ops::ProductEpilogue& f,
                  bool& applied) { return ops::conv2d(x, weight, bias, options, f, applied); },
       .backward = [&] { return conv2d_backward(x, weight, options); }},
      epilogue);
}

}  // namespace crisol
