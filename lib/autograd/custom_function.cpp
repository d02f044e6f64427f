#include "autograd/call.h"
#include "autograd/in_place.h"
#include "autograd/refusal.h"
#include "base/interned_text.h"
#include "base/text.h"

namespace crisol {

namespace {

// The gradient in the shape and the dtype of its input.
Tensor fitted(const char* op, std::size_t number, const Tensor& gradient, const Tensor& input) {
  const Shape &own = gradient.shape(), &wanted = input.shape();
  if (own != wanted) {
    bool broadcasts = wanted.rank() <= own.rank();
    for (int i = 1; broadcasts && i <= wanted.rank(); ++i)
      broadcasts = wanted[wanted.rank() - i] == own[own.rank() - i] || wanted[wanted.rank() - i] == 1;
    require(broadcasts, op, "the gradient function gave shape ", own, " for input ", number, " of shape ", wanted,
            ", which does not broadcast to it");
  }
  require(is_floating(gradient.dtype()), op, "the gradient function gave dtype ", gradient.dtype(), " for input ",
          number, " of ", input.dtype());
  require(gradient.device() == input.device(), op, "the gradient function gave a tensor on ", gradient.device(),
          " for input ", number, " on ", input.device());
  return autograd::sum_to_shape(gradient, wanted).to(input.dtype());
}

void fit_gradients(const char* op, std::vector<Tensor>& gradients, const std::vector<Tensor>& inputs,
                   autograd::Needs needs) {
  require(gradients.size() == inputs.size(), op, "the gradient function gave ", gradients.size(), " gradients for ",
          inputs.size(), " inputs");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!needs[i]) gradients[i] = Tensor();
    if (gradients[i].defined()) gradients[i] = fitted(op, i, gradients[i], inputs[i]);
  }
}

// Marks gradients that have no record, because they came from a raw op or a kernel. Without the mark they would
// silently count as constants. dy itself may be passed on.
void mark_first_order_only(const char* op, std::vector<Tensor>& gradients, const Tensor& dy, std::vector<Tensor> from) {
  from.push_back(dy);
  for (Tensor& gradient : gradients)
    if (gradient.defined() && !gradient.requires_grad() && gradient.impl() != dy.impl())
      gradient = autograd::first_order_only(op, gradient, from);
}

}  // namespace

Tensor custom_function(const std::string& name, const std::vector<Tensor>& inputs, const ForwardFunction& forward,
                       const BackwardFunction& backward) {
  require(forward != nullptr && backward != nullptr, name.c_str(), "both functions must be given");
  std::vector<Tensor> plain;
  for (const Tensor& input : inputs) plain.push_back(input.defined() ? input.detach() : input);
  Tensor y;
  {
    const NoGrad no_grad;
    y = forward(plain);
  }
  require(y.defined(), name.c_str(), "the function gave an undefined tensor");
  autograd::note_view(y, inputs);
  if (!autograd::observed(inputs)) return y;

  // The record and the timeline keep pointers to the name.
  const char* const op = interned(intern(name)).c_str();
  const auto kept = std::make_shared<const BackwardFunction>(backward);
  const Tensor recorded = autograd::call(op, inputs, y, autograd::unnoted, [&](const Tensor& y) {
    const std::vector<autograd::Saved> saved(inputs.begin(), inputs.end());
    return [op, kept, saved, result = autograd::SavedResult(y)](const Tensor& dy, autograd::Needs needs) {
      std::vector<Tensor> from;
      for (const autograd::Saved& input : saved) from.push_back(input.get());
      autograd::Gradients gradients = (*kept)(dy, from, result.get());
      fit_gradients(op, gradients, from, needs);
      if (grad_enabled()) mark_first_order_only(op, gradients, dy, from);
      return gradients;
    };
  });
  if (const autograd::Slot* slot = autograd::slot_of(recorded); slot != nullptr && slot->node != nullptr)
    slot->node->custom = kept;
  return recorded;
}

}  // namespace crisol
