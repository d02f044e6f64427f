#include "base/text.h"
#include "crisol/ops/optimizer.h"
#include "crisol/optim/clip.h"
#include "optim/flat_parts.h"

namespace crisol::optim {

Tensor clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm) {
  require(max_norm > 0, "clip_grad_norm", "max_norm ", max_norm, " must be positive");
  const std::vector<Tensor> gradients = flat_gradients(parameters);
  require(!gradients.empty(), "clip_grad_norm", "none of the ", parameters.size(), " parameters has a gradient");
  const Tensor norm = ops::global_norm(gradients);
  for (const Tensor& gradient : gradients) ops::scale_by_clip(gradient, norm, max_norm);
  return norm;
}

}  // namespace crisol::optim
