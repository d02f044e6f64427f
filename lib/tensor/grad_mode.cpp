#include "tensor/grad_mode.h"

#include "base/text.h"

namespace crisol {

namespace {

thread_local bool enabled = true;

}  // namespace

bool grad_enabled() noexcept { return enabled; }

NoGrad::NoGrad() noexcept : before_(enabled) { enabled = false; }
NoGrad::~NoGrad() { enabled = before_; }

void require_in_place_allowed(const char* op, const Tensor& tensor) {
  require(
      !(grad_enabled() && tensor.requires_grad()), op,
      "a tensor that wants a gradient is changed in place while ops are recorded; use crisol::NoGrad, or detach() it");
}

}  // namespace crisol
