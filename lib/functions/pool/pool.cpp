#include "crisol/functions/pool.h"

#include "autograd/node.h"
#include "crisol/ops/pool.h"
#include "functions/single_image.h"
#include "functions/traced/traced.h"

namespace crisol {

using autograd::Gradients;
using autograd::Needs;
using autograd::Saved;

namespace {

/// The values of a pooling with their gradient.
Tensor recorded(const Tensor& x, const ops::MaxPool2dResult& result, const MaxPool2dOptions& options) {
  if (Recorder* r = recorder()) traced::max_pool(*r, x, options, result.values);
  if (!autograd::recording(x)) return result.values;
  return autograd::record("max_pool2d", result.values, {x},
                          [indices = Saved(result.indices), shape = x.shape(), options](const Tensor& dy, Needs) {
                            return Gradients{ops::max_pool2d_backward(dy, indices.get(), shape, options)};
                          });
}

}  // namespace

Tensor max_pool2d(const Tensor& x, const MaxPool2dOptions& options) {
  if (is_single(x)) return max_pool2d(x.unsqueeze(0), options).squeeze(0);
  return recorded(x, ops::max_pool2d(x, options), options);
}

ExtremeResult max_pool2d_with_indices(const Tensor& x, const MaxPool2dOptions& options) {
  if (is_single(x)) {
    const ExtremeResult batch = max_pool2d_with_indices(x.unsqueeze(0), options);
    return {batch.values.squeeze(0), batch.indices.squeeze(0)};
  }
  const ops::MaxPool2dResult result = ops::max_pool2d(x, options);
  return {recorded(x, result, options), result.indices.to(DType::i64)};
}

Tensor avg_pool2d(const Tensor& x, const AvgPool2dOptions& options) {
  if (is_single(x)) return avg_pool2d(x.unsqueeze(0), options).squeeze(0);
  const Tensor y = ops::avg_pool2d(x, options);
  if (Recorder* r = recorder()) traced::avg_pool(*r, x, options, y);
  if (!autograd::recording(x)) return y;
  return autograd::record("avg_pool2d", y, {x}, [shape = x.shape(), options](const Tensor& dy, Needs) {
    return Gradients{ops::avg_pool2d_backward(dy, shape, options)};
  });
}

Tensor adaptive_avg_pool2d(const Tensor& x, IntPair output) {
  if (is_single(x)) return adaptive_avg_pool2d(x.unsqueeze(0), output).squeeze(0);
  const Tensor y = ops::adaptive_avg_pool2d(x, output);
  if (Recorder* r = recorder()) traced::adaptive_avg_pool(*r, x, y);
  if (!autograd::recording(x)) return y;
  return autograd::record("adaptive_avg_pool2d", y, {x}, [shape = x.shape()](const Tensor& dy, Needs) {
    return Gradients{ops::adaptive_avg_pool2d_backward(dy, shape)};
  });
}

}  // namespace crisol
