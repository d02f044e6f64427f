#include "autograd/saved.h"

#include "autograd/node.h"
#include "base/text.h"

namespace crisol::autograd {

namespace {

std::uint64_t version_of(const Tensor& tensor) {
  return tensor.impl()->storage->version.load(std::memory_order_relaxed);
}

// Another handle to the elements of a tensor, with this place in the graph.
Tensor placed(const Tensor& tensor, std::shared_ptr<AutogradSlot> slot) {
  const Tensor copy = make_view(tensor, tensor.shape(), tensor.strides(), tensor.offset());
  copy.impl()->autograd = std::move(slot);
  return copy;
}

}  // namespace

Saved::Saved(const Tensor& tensor) {
  if (!tensor.defined()) return;
  tensor_ = placed(tensor, tensor.impl()->autograd);
  version_ = version_of(tensor);
  // A leaf is the user's own tensor. It is kept, so that a change of its elements is noticed.
  if (thread_context().checkpoint == nullptr || (tensor.is_leaf() && tensor.requires_grad())) return;
  recomputed_ = Recomputed::place_for(tensor);
  if (recomputed_) tensor_.impl()->storage = nullptr;
}

const Tensor& Saved::get() const {
  if (!tensor_.defined()) return tensor_;
  if (recomputed_) {
    if (tensor_.impl()->storage == nullptr) tensor_ = placed(recomputed_.get(), tensor_.impl()->autograd);
    return tensor_;
  }
  const std::uint64_t now = version_of(tensor_);
  require(now == version_, "backward", "a tensor of shape ", tensor_.shape(),
          " that is needed for the gradient was changed in place (version ", now, ", saved at ", version_, ")");
  return tensor_;
}

Tensor SavedResult::get() const {
  const Tensor& tensor = saved_.get();
  Node* const node = thread_context().backward_node;
  if (!tensor.defined() || output_ == no_output || node == nullptr || !thread_context().grad_enabled) return tensor;
  const auto slot = std::make_shared<Slot>();
  slot->node = node->shared_from_this();
  slot->output = output_;
  return placed(tensor, slot);
}

}  // namespace crisol::autograd
