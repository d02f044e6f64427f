// The members of Tensor that deal with gradients.
#include "autograd/node.h"
#include "base/text.h"
#include "crisol/ops/copy.h"
#include "tensor/grad_mode.h"

namespace crisol {

bool Tensor::requires_grad() const noexcept {
  const autograd::Slot* slot = autograd::slot_of(*this);
  return slot != nullptr && (slot->wanted || slot->node != nullptr);
}

bool Tensor::is_leaf() const noexcept {
  const autograd::Slot* slot = autograd::slot_of(*this);
  return slot == nullptr || slot->node == nullptr;
}

Tensor& Tensor::requires_grad_(bool wanted) {
  require(is_floating(dtype()) || !wanted, "requires_grad_", "only f32 and f16 tensors have gradients, this one is ",
          dtype());
  require(is_leaf(), "requires_grad_", "the tensor is the result of a recorded op; detach() it first");
  autograd::ensure_slot(*this).wanted = wanted;
  return *this;
}

Tensor Tensor::grad() const {
  const autograd::Slot* slot = autograd::slot_of(*this);
  return slot == nullptr ? Tensor() : slot->gradient;
}

Tensor Tensor::detach() const { return make_view(*this, shape(), strides(), offset()); }

Tensor& Tensor::fill_(const Scalar& value) {
  require_in_place_allowed("fill_", *this);
  ops::fill_into(*this, value);
  return *this;
}

void Tensor::copy_from(const Tensor& source) {
  require_in_place_allowed("copy_from", *this);
  ops::copy_into(*this, source);
}

}  // namespace crisol
