#include "tensor/grad_mode.h"

#include "base/text.h"
#include "base/thread_context.h"
#include "tensor/impl.h"
#include "tensor/trace.h"

namespace crisol {

bool grad_enabled() noexcept { return thread_context().grad.enabled; }

NoGrad::NoGrad() noexcept : before_(thread_context().grad.enabled) { thread_context().grad.enabled = false; }
NoGrad::~NoGrad() { thread_context().grad.enabled = before_; }

EnableGrad::EnableGrad() noexcept : before_(thread_context().grad.enabled) { thread_context().grad.enabled = true; }
EnableGrad::~EnableGrad() { thread_context().grad.enabled = before_; }

void require_in_place_allowed(const char* op, const Tensor& tensor) {
  require(
      !(grad_enabled() && (tensor.requires_grad() || whole_of(tensor).requires_grad())), op,
      "a tensor that wants a gradient is changed in place while ops are recorded; use crisol::NoGrad, or detach() it");
  // The trace must refuse this tensor, because a graph cannot express its new values.
  if (Trace* trace = current_trace()) trace->made(op, tensor);
}

}  // namespace crisol
