// Hooks on tensors: registration, and the run in backward.
#include "autograd/hooks.h"

#include <algorithm>

#include "autograd/node.h"
#include "base/text.h"

namespace crisol {

namespace autograd {

HookHandle HookList::add(std::shared_ptr<HookList>& place, GradientHook hook) {
  require(hook != nullptr, "register_hook", "the function is empty");
  if (place == nullptr) place = std::make_shared<HookList>();
  const std::uint64_t id = ++place->last_id_;
  place->hooks_.emplace_back(id, std::move(hook));
  return HookHandle([list = std::weak_ptr<HookList>(place), id] {
    if (const std::shared_ptr<HookList> alive = list.lock())
      alive->hooks_.erase(
          std::remove_if(alive->hooks_.begin(), alive->hooks_.end(), [id](const auto& one) { return one.first == id; }),
          alive->hooks_.end());
  });
}

Tensor HookList::run(Tensor gradient) const {
  const auto hooks = hooks_;
  for (const auto& [id, hook] : hooks) {
    Tensor changed = hook(gradient);
    if (!changed.defined()) continue;
    require(changed.shape() == gradient.shape() && changed.dtype() == gradient.dtype() &&
                changed.device() == gradient.device(),
            "backward", "a hook gave a gradient of shape ", changed.shape(), ", dtype ", changed.dtype(), " on ",
            changed.device(), " for one of shape ", gradient.shape(), ", dtype ", gradient.dtype(), " on ",
            gradient.device());
    gradient = std::move(changed);
  }
  return gradient;
}

}  // namespace autograd

using autograd::Slot;

HookHandle Tensor::add_hook(GradientHook hook) const {
  require(defined() && requires_grad(), "register_hook", "the tensor wants no gradient");
  Slot& slot = *autograd::slot_of(*this);
  return autograd::HookList::add(slot.node == nullptr ? slot.hooks : slot.node->watch(slot.output).hooks,
                                 std::move(hook));
}

HookHandle Tensor::register_post_accumulate_grad_hook(std::function<void(const Tensor& leaf)> hook) const {
  constexpr const char* op = "register_post_accumulate_grad_hook";
  require(hook != nullptr, op, "the function is empty");
  require(defined() && requires_grad() && is_leaf(), op, "the tensor is not a leaf that wants a gradient");
  // The slot owns the hook, so the hook must not own the tensor, which owns the slot.
  return autograd::HookList::add(autograd::slot_of(*this)->accumulated_hooks,
                                 [tensor = std::weak_ptr<TensorImpl>(impl()), hook = std::move(hook)](const Tensor&) {
                                   if (std::shared_ptr<TensorImpl> alive = tensor.lock()) hook(Tensor(alive));
                                   return Tensor();
                                 });
}

Tensor& Tensor::retain_grad() {
  require(defined() && requires_grad(), "retain_grad", "the tensor wants no gradient");
  const Slot& slot = *autograd::slot_of(*this);
  if (slot.node != nullptr) slot.node->watch(slot.output).retained = impl()->autograd;
  return *this;
}

}  // namespace crisol
