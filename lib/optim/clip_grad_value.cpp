#include "base/text.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"
#include "crisol/optim/clip.h"
#include "optim/flat_parts.h"

namespace crisol::optim {

void clip_grad_value(const std::vector<Tensor>& parameters, double clip_value) {
  require(clip_value > 0, "clip_grad_value", "clip_value ", clip_value, " must be positive");
  const std::vector<Tensor> gradients = flat_gradients(parameters);
  for (const Tensor& gradient : gradients) ops::copy_into(gradient, ops::clamp(gradient, -clip_value, clip_value));
}

}  // namespace crisol::optim
