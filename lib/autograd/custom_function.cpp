#include "autograd/node.h"
#include "autograd/refusal.h"
#include "base/interned_text.h"
#include "base/text.h"

namespace crisol {

namespace {

void check_shapes(const char* op, const std::vector<Tensor>& gradients, const std::vector<Tensor>& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (gradients[i].defined() && inputs[i].defined())
      require(gradients[i].shape() == inputs[i].shape(), op, "the gradient function gave shape ", gradients[i].shape(),
              " for input ", i, " of shape ", inputs[i].shape());
}

// A gradient without a record may come from a raw op or a kernel. Then it would silently count as a constant. dy itself
// may be passed on.
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
  if (!autograd::recording(inputs)) return y;

  // The record and the timeline refer to the name for as long as they live.
  const char* const op = interned(intern(name)).c_str();
  const std::vector<autograd::Saved> saved(inputs.begin(), inputs.end());
  const auto kept = std::make_shared<const BackwardFunction>(backward);
  const Tensor recorded = autograd::record_higher(
      op, y, inputs, [op, kept, saved, result = autograd::SavedResult(y)](const Tensor& dy, autograd::Needs) {
        std::vector<Tensor> from;
        for (const autograd::Saved& input : saved) from.push_back(input.get());
        autograd::Gradients gradients = (*kept)(dy, from, result.get());
        require(gradients.size() == from.size(), op, "the gradient function gave ", gradients.size(), " gradients for ",
                from.size(), " inputs");
        check_shapes(op, gradients, from);
        if (grad_enabled()) mark_first_order_only(op, gradients, dy, from);
        return gradients;
      });
  if (const autograd::Slot* slot = autograd::slot_of(recorded); slot != nullptr && slot->node != nullptr)
    slot->node->custom = kept;
  return recorded;
}

}  // namespace crisol
