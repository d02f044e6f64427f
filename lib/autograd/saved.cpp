#include "autograd/saved.h"

#include "autograd/autocast.h"
#include "autograd/node.h"
#include "base/text.h"
#include "crisol/ops/copy.h"

namespace crisol::autograd {

namespace {

// A new handle to the elements of a tensor, with this place in the graph.
Tensor placed(const Tensor& tensor, std::shared_ptr<AutogradSlot> slot) {
  const Tensor copy = make_alias(tensor);
  copy.impl()->autograd = std::move(slot);
  return copy;
}

}  // namespace

void SavedList::give_to(const Tensor& result) {
  if (tensors_.empty() && recomputed_.empty()) return;
  const Slot* const slot = slot_of(result);
  if (slot == nullptr || slot->node == nullptr) return;
  slot->node->saved = std::move(tensors_);
  slot->node->recomputed = std::move(recomputed_);
}

void require_version(const Tensor& tensor, std::uint64_t version) {
  const std::uint64_t now = version_of(tensor);
  require(now == version, "backward", "a tensor of shape ", tensor.shape(),
          " that is needed for the gradient was changed in place (version ", now, ", saved at ", version, ")");
}

Saved::Saved(const Tensor& tensor) {
  if (!tensor.defined()) return;
  static_cast<void>(slot_of(tensor));  // Gives a view the place in the graph that it has after recorded writes.
  const bool is_overwritten = thread_context().saving.overwritten == tensor.impl()->storage.get();
  const Tensor kept = is_overwritten ? ops::clone(tensor) : tensor;
  tensor_ = placed(kept, tensor.impl()->autograd);
  version_ = version_of(kept);
  SavedList::add(tensor_);
  // A leaf is the user's own tensor. It is kept, so that a change of its elements is noticed.
  if (tensor.is_leaf() && tensor.requires_grad()) return;
  if (thread_context().saving.checkpoint == nullptr) {
    parameter_ = parameter_behind(kept);
    if (!parameter_.defined()) return;
    version_ = version_of(parameter_);
    tensor_.impl()->storage = nullptr;
    return;
  }
  recomputed_ = Recomputed::place_for(kept);
  if (!recomputed_) return;
  SavedList::add(recomputed_);
  tensor_.impl()->storage = nullptr;
}

const Tensor& Saved::get() const {
  if (!tensor_.defined()) return tensor_;
  if (recomputed_) {
    if (tensor_.impl()->storage == nullptr) replace_storage(tensor_, recomputed_.get());
    return tensor_;
  }
  if (parameter_.defined()) {
    if (tensor_.impl()->storage != nullptr) return tensor_;
    require_version(parameter_, version_);
    replace_storage(tensor_, converted_again(parameter_, tensor_.dtype()));
    return tensor_;
  }
  require_version(tensor_, version_);
  return tensor_;
}

Tensor SavedResult::get() const {
  const Tensor& tensor = saved_.get();
  Node* const node = thread_context().backward.node;
  if (!tensor.defined() || output_ == no_output || node == nullptr || !thread_context().grad.enabled) return tensor;
  const auto slot = std::make_shared<Slot>();
  slot->node = node->shared_from_this();
  slot->output = output_;
  return placed(tensor, slot);
}

}  // namespace crisol::autograd
