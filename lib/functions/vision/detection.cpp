#include "autograd/call.h"
#include "crisol/functions/vision.h"
#include "crisol/ops/vision.h"

namespace crisol {

using autograd::Saved;

Tensor roi_align(const Tensor& x, const Tensor& boxes, const Tensor& images, const RoiAlignOptions& options) {
  const auto backward = [&] {
    return [x = Saved(x), boxes = Saved(boxes), images = Saved(images), options](const Tensor& dy) {
      return ops::roi_align_backward(dy, x.get(), boxes.get(), images.get(), options);
    };
  };
  return autograd::call("roi_align", {x}, ops::roi_align(x, boxes, images, options), autograd::unnoted, backward,
                        autograd::Order::first);
}

Tensor non_max_suppression(const Tensor& boxes, const Tensor& scores, const NonMaxSuppressionOptions& options) {
  return ops::non_max_suppression(boxes, scores, options);
}

}  // namespace crisol
