#include <cmath>

#include "base/text.h"
#include "crisol/ops/cat.h"
#include "crisol/ops/optimizer.h"
#include "crisol/ops/reduce.h"
#include "crisol/optim/clip.h"
#include "optim/flat_parts.h"

namespace crisol::optim {

namespace {

Tensor common_norm(const std::vector<Tensor>& parts, double norm_type) {
  if (norm_type == 2) return ops::global_norm(parts);
  std::vector<Tensor> norms;
  for (const Tensor& part : parts) norms.push_back(ops::norm(part, norm_type).reshape({1}));
  return ops::norm(ops::cat(norms, 0), norm_type);
}

}  // namespace

Tensor clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm) {
  return clip_grad_norm(parameters, max_norm, 2);
}

Tensor clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm, double norm_type,
                      bool error_if_nonfinite) {
  constexpr const char* op = "clip_grad_norm";
  require(max_norm > 0, op, "max_norm ", max_norm, " must be positive");
  require(norm_type > 0, op, "norm_type ", norm_type, " must be positive");
  const std::vector<Tensor> gradients = flat_gradients(parameters);
  if (gradients.empty()) return zeros({}, DType::f32, parameters.empty() ? Device() : parameters[0].device());
  const Tensor norm = common_norm(gradients, norm_type);
  if (error_if_nonfinite) {
    const double value = norm.item<double>();
    require(std::isfinite(value), op, "the norm of the gradients is ", value, ", and error_if_nonfinite is true");
  }
  if (std::isinf(max_norm)) return norm;
  for (const Tensor& gradient : gradients) ops::scale_by_clip(gradient, norm, max_norm);
  return norm;
}

}  // namespace crisol::optim
