// Hooks of modules: what operator() does before and after forward().
#include <algorithm>

#include "autograd/call.h"
#include "base/text.h"
#include "nn/module_state.h"

namespace crisol::nn {

namespace {

// Adds a hook to the list that `member` points to. The state may no longer exist when the handle is used.
template <class State, class Hook>
HookHandle add_hook(const std::shared_ptr<State>& state, Hooks<Hook> State::*member, Hook hook) {
  require(hook != nullptr, "Module", "the hook is empty");
  const std::uint64_t number = ++state->last_hook;
  ((*state).*member).emplace_back(number, std::move(hook));
  return HookHandle([weak = std::weak_ptr<State>(state), member, number] {
    const std::shared_ptr<State> alive = weak.lock();
    if (alive == nullptr) return;
    Hooks<Hook>& hooks = (*alive).*member;
    hooks.erase(std::remove_if(hooks.begin(), hooks.end(), [&](const auto& entry) { return entry.first == number; }),
                hooks.end());
  });
}

// The data that a call of a module with backward hooks keeps for backward().
struct Watch {
  Hooks<BackwardHook> hooks;
  bool input_recorded = false;
  Tensor grad_output;

  Tensor run(Tensor grad_input) const {
    for (const auto& [number, hook] : hooks) hook(grad_input, grad_output);
    return grad_input;
  }
};

// x, recorded with an op whose backward calls the hooks.
Tensor watch_input(const Tensor& x, const std::shared_ptr<Watch>& watch) {
  if (!autograd::linked({x})) return x;
  watch->input_recorded = true;
  return watch_gradients({x},
                         [watch](const autograd::Gradients& dx) { return autograd::Gradients{watch->run(dx[0])}; })[0];
}

// y, recorded with an op whose backward keeps the gradient for the hooks.
Tensor watch_output(const Tensor& y, const std::shared_ptr<Watch>& watch) {
  if (!autograd::linked({y})) return y;
  return watch_gradients({y}, [watch](const autograd::Gradients& dy) {
    watch->grad_output = dy[0];
    if (!watch->input_recorded) watch->run(Tensor());
    return dy;
  })[0];
}

}  // namespace

HookHandle Module::register_forward_pre_hook(ForwardPreHook hook) {
  return add_hook(state_, &State::pre_hooks, std::move(hook));
}

HookHandle Module::register_forward_hook(ForwardHook hook) { return add_hook(state_, &State::hooks, std::move(hook)); }

HookHandle Module::register_full_backward_hook(BackwardHook hook) {
  return add_hook(state_, &State::backward_hooks, std::move(hook));
}

void Module::replace_forward(ReplacedForward function) { state_->replaced_forward = std::move(function); }

void Module::wrap_call(CallWrapper wrapper) { state_->call_wrapper = std::move(wrapper); }

const CallWrapper& Module::call_wrapper() const noexcept { return state_->call_wrapper; }

bool Module::has_hooks() const noexcept {
  return !state_->pre_hooks.empty() || !state_->hooks.empty() || !state_->backward_hooks.empty() ||
         state_->replaced_forward != nullptr || state_->call_wrapper != nullptr;
}

std::int64_t Module::handles() const noexcept { return state_.use_count(); }

Tensor Module::operator()(const Tensor& x) {
  return has_hooks() ? call_with_hooks(x, [this](const Tensor& input) { return forward(input); }) : forward(x);
}

Tensor Module::call_with_hooks(const Tensor& x, const std::function<Tensor(const Tensor& x)>& forward) {
  if (!has_hooks()) return forward(x);
  const CallWrapper wrapper = state_->call_wrapper;
  const auto call = [&](const Tensor& input) { return call_inside_wrapper(input, forward); };
  return wrapper != nullptr ? wrapper(*this, x, call) : call(x);
}

Tensor Module::call_inside_wrapper(const Tensor& x, const std::function<Tensor(const Tensor& x)>& forward) {
  Tensor input = x;
  // The lists are copied, because a hook may add or remove hooks.
  for (const auto& [number, hook] : Hooks<ForwardPreHook>(state_->pre_hooks)) hook(*this, input);
  const auto watch = std::make_shared<Watch>(Watch{state_->backward_hooks, false, Tensor()});
  if (!watch->hooks.empty()) input = watch_input(input, watch);
  const ReplacedForward replaced = state_->replaced_forward;
  Tensor output = replaced != nullptr ? replaced(*this, input) : forward(input);
  for (const auto& [number, hook] : Hooks<ForwardHook>(state_->hooks)) hook(*this, input, output);
  return watch->hooks.empty() ? output : watch_output(output, watch);
}

}  // namespace crisol::nn
