#include "autograd/refusal.h"

#include <algorithm>

#include "autograd/node.h"
#include "base/text.h"

namespace crisol::autograd {

Tensor first_order_only(const char* op, const Tensor& gradient, const std::vector<Tensor>& from) {
  if (std::none_of(from.begin(), from.end(), [](const Tensor& x) { return x.requires_grad(); })) return gradient;
  const auto refuse = [op](const Tensor&, Needs) -> Gradients {
    fail(ErrorCode::invalid_argument, "backward", op, " has no gradient of its gradient");
  };
  return record(op, gradient.detach(), from, refuse, Order::first);
}

}  // namespace crisol::autograd
