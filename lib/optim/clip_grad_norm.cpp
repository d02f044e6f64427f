#include "base/text.h"
#include "crisol/optim.h"

namespace crisol::optim {

Tensor clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm) {
  require(max_norm > 0, "clip_grad_norm", "max_norm ", max_norm, " must be positive");
  std::vector<Tensor> gradients;
  for (const Tensor& p : parameters)
    if (const Tensor gradient = p.grad(); gradient.defined()) gradients.push_back(gradient);
  require(!gradients.empty(), "clip_grad_norm", "none of the ", parameters.size(), " parameters has a gradient");
  const Tensor norm = ops::global_norm(gradients);
  for (const Tensor& gradient : gradients) ops::scale_by_clip(gradient, norm, max_norm);
  return norm;
}

}  // namespace crisol::optim
