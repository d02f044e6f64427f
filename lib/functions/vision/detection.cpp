#include "autograd/node.h"
#include "crisol/functions/vision.h"
#include "crisol/ops/vision.h"

namespace crisol {

Tensor roi_align(const Tensor& x, const Tensor& boxes, const Tensor& images, const RoiAlignOptions& options) {
  const Tensor y = ops::roi_align(x, boxes, images, options);
  if (!autograd::recording(x)) return y;
  return autograd::record(
      "roi_align", y, {x},
      [x = autograd::Saved(x), boxes = autograd::Saved(boxes), images = autograd::Saved(images), options](
          const Tensor& dy, autograd::Needs) {
        return autograd::Gradients{ops::roi_align_backward(dy, x.get(), boxes.get(), images.get(), options)};
      });
}

Tensor non_max_suppression(const Tensor& boxes, const Tensor& scores, const NonMaxSuppressionOptions& options) {
  return ops::non_max_suppression(boxes, scores, options);
}

}  // namespace crisol
