#include "crisol/functions/pad.h"

#include "autograd/node.h"
#include "crisol/ops/pad.h"
#include "functions/traced/traced.h"

namespace crisol {

Tensor pad(const Tensor& x, const std::vector<AxisPadding>& paddings, double value) {
  const Tensor y = ops::pad(x, paddings, value);
  if (Recorder* r = recorder()) traced::pad(*r, x, paddings, value, y);
  if (!autograd::recording(x)) return y;
  // The gradient leaves out the elements that were added. The gradient of elements that were cut off is 0.
  std::vector<AxisPadding> inverse = paddings;
  for (AxisPadding& padding : inverse) padding = {-padding.before, -padding.after};
  return autograd::record_higher(
      "pad", y, {x}, [inverse](const Tensor& dy, autograd::Needs) { return autograd::Gradients{pad(dy, inverse)}; });
}

}  // namespace crisol
