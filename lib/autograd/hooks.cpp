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

void HookList::visit(FunctionVisitor& visitor) const {
  for (const auto& [id, hook] : hooks_) {
    if (const LeafHook* leaf_hook = hook.target<LeafHook>())
      visitor.leaf_hook(leaf_hook->function);
    else
      visitor.hook(hook);
  }
}

Tensor LeafHook::operator()(const Tensor&) const {
  if (std::shared_ptr<TensorImpl> alive = leaf.lock()) function(Tensor(std::move(alive)));
  return Tensor();
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
  return autograd::HookList::add(autograd::slot_of(*this)->accumulated_hooks,
                                 autograd::LeafHook{impl(), std::move(hook)});
}

Tensor& Tensor::retain_grad() {
  require(defined() && requires_grad(), "retain_grad", "the tensor wants no gradient");
  const Slot& slot = *autograd::slot_of(*this);
  if (slot.node != nullptr) slot.node->watch(slot.output).retained = impl()->autograd;
  return *this;
}

std::vector<Tensor> watch_gradients(const std::vector<Tensor>& tensors, const GradientsFunction& function) {
  require(function != nullptr, "watch_gradients", "the function is empty");
  std::vector<Tensor> outputs;
  for (const Tensor& tensor : tensors) outputs.push_back(tensor.defined() ? tensor.detach() : tensor);
  const auto kept = std::make_shared<const GradientsFunction>(function);
  outputs = autograd::record_many("backward_hook", std::move(outputs), tensors,
                                  [kept](const autograd::Gradients& gradients, autograd::Needs) {
                                    std::vector<Tensor> changed = (*kept)(gradients);
                                    require(changed.size() == gradients.size(), "backward_hook", "the function gave ",
                                            changed.size(), " gradients for ", gradients.size(), " tensors");
                                    return changed;
                                  });
  for (const Tensor& output : outputs)
    if (const Slot* slot = autograd::slot_of(output); slot != nullptr && slot->node != nullptr)
      slot->node->watcher = kept;
  return outputs;
}

}  // namespace crisol
