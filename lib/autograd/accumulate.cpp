#include "autograd/accumulate.h"

#include <utility>

#include "autograd/call.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"

namespace crisol::autograd {

namespace {

// The place where an optimiser wants the gradient of a leaf that has no gradient yet. If a program still keeps an
// earlier gradient there, that earlier tensor first gets other memory.
const Tensor& free_place(Slot& leaf) {
  leaf.gradient_buffer = take_place(leaf.gradient_buffer);
  return leaf.gradient_buffer;
}

// Makes the sum the gradient of a leaf, as a part of the graph. Later backward passes add to this gradient and must
// change no other tensor. So the elements are copied.
Tensor linked_gradient(Slot& leaf, const Tensor& sum) {
  Tensor own;
  leaf.gradient = Tensor();
  if (leaf.gradient_buffer.defined()) {
    ops::copy_into(free_place(leaf), sum);
    own = leaf.gradient_buffer.detach();
  } else {
    own = ops::clone(sum);
  }
  return record("accumulate_grad", own, {sum}, [](const Tensor& dy) { return dy; });
}

}  // namespace

void accumulate(Tensor& sum, Tensor&& gradient) {
  if (!sum.defined()) {
    sum = std::move(gradient);
    return;
  }
  // The sum is not made in place, because another op may share the first gradient: add passes the same gradient to both
  // inputs.
  sum = call("add", {sum, gradient}, ops::add(sum, gradient), unnoted, [] {
    return [](const Tensor& dy, Needs) { return Gradients{dy, dy}; };
  });
}

void accumulate_leaf(Slot& leaf, Tensor&& gradient) {
  if (gradient.requires_grad() || (grad_enabled() && leaf.gradient.requires_grad())) {
    Tensor sum = leaf.gradient;
    accumulate(sum, std::move(gradient));
    leaf.gradient = linked_gradient(leaf, sum);
  } else if (leaf.gradient.requires_grad()) {
    // The old gradient belongs to a graph that may still need its elements. The new gradient belongs to no graph.
    const Tensor sum = ops::add(leaf.gradient, gradient);
    leaf.gradient = Tensor();
    accumulate_leaf(leaf, Tensor(sum));
  } else if (leaf.gradient.defined()) {
    ops::accumulate_into(leaf.gradient, gradient);
  } else if (leaf.gradient_buffer.defined()) {
    ops::copy_into(free_place(leaf), gradient);
    leaf.gradient = leaf.gradient_buffer;
  } else {
    // Later calls add to this gradient in place, so no other tensor may share its storage.
    const bool sole = gradient.impl().use_count() == 1 && gradient.impl()->storage.use_count() == 1;
    leaf.gradient = sole && gradient.is_contiguous() ? std::move(gradient) : ops::clone(gradient);
  }
}

}  // namespace crisol::autograd
