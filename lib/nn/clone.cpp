// Copies of modules: the same module, or a deep copy inside of clone().
#include "autograd/node.h"
#include "base/text.h"
#include "base/thread_context.h"
#include "crisol/ops/copy.h"
#include "nn/clone_context.h"
#include "nn/module_state.h"

namespace crisol::nn {

Tensor tensor_for_copy(const Tensor& original) {
  CloneContext* context = thread_context().clone;
  if (context == nullptr || !original.defined()) return original;
  Tensor& copy = context->tensors[original.impl().get()];
  if (copy.defined()) return copy;
  const autograd::Slot* slot = autograd::slot_of(original);
  Tensor& leaf = context->leaves[autograd::identity_of(original)];
  if (leaf.defined()) {
    copy = leaf.detach();
    autograd::tie(copy, leaf);
    return copy;
  }
  copy = ops::clone(original);
  if (slot != nullptr) copy.requires_grad_(slot->wanted);
  leaf = copy;
  return copy;
}

namespace detail {

CloneScope::CloneScope(const Module& module, const std::type_info& type) {
  Module::check_class("clone", module, type);
  thread_context().clone = new CloneContext{{}, {}, {}, thread_context().clone};
}

CloneScope::~CloneScope() {
  const std::unique_ptr<CloneContext> finished(thread_context().clone);
  thread_context().clone = finished->outer;
}

}  // namespace detail

Module::Module(const Module& other) : state_(other.state_) {
  CloneContext* context = thread_context().clone;
  if (context == nullptr) return;
  std::shared_ptr<void>& copy = context->states[other.state_.get()];
  if (copy != nullptr) {
    state_ = std::static_pointer_cast<State>(copy);
    return;
  }
  state_ = std::make_shared<State>();
  copy = state_;  // This comes before the children, because a child may be shared.
  const State& from = *other.state_;
  state_->parameters = {from.parameters.begin(), from.parameters.end()};
  state_->buffers = {from.buffers.begin(), from.buffers.end()};
  for (std::size_t i = 0; i < from.children.size(); ++i) {
    const auto& [name, child] = from.children[i];
    require(from.copy_child[i] != nullptr, "clone", "the child ", name,
            " is held by a pointer, which would still point to the original; make it a member");
    state_->children.emplace_back(name, from.copy_child[i](*child));
  }
  state_->copy_child = from.copy_child;
  state_->replaced_forward = from.replaced_forward;
  state_->pre_hooks = from.pre_hooks;
  state_->hooks = from.hooks;
  state_->backward_hooks = from.backward_hooks;
  state_->last_hook = from.last_hook;
  state_->training = from.training;
}

}  // namespace crisol::nn
