#include "crisol/functions/pad.h"

#include "autograd/call.h"
#include "crisol/ops/pad.h"
#include "functions/traced/traced.h"

namespace crisol {

using autograd::call;

Tensor pad(const Tensor& x, const std::vector<AxisPadding>& paddings, double value) {
  return call(
      "pad", {x}, ops::pad(x, paddings, value),
      [&](Trace& trace, const Tensor& y) { traced::pad(trace, x, paddings, value, y); },
      [&] {
        // The gradient leaves out the elements that were added. The gradient of elements that were cut off is 0.
        std::vector<AxisPadding> inverse = paddings;
        for (AxisPadding& padding : inverse) padding = {-padding.before, -padding.after};
        return [inverse](const Tensor& dy) { return pad(dy, inverse); };
      });
}

}  // namespace crisol
