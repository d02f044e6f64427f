// Tensor::backward: walks the recorded graph in reverse.
#include <algorithm>
#include <queue>
#include <unordered_map>

#include "autograd/node.h"
#include "base/text.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"

namespace crisol {

namespace {

using autograd::Gradients;
using autograd::Node;
using autograd::Slot;

void accumulate(Tensor& sum, const Tensor& gradient) {
  // The sum is not made in place, because another op may share the first gradient: add passes the same gradient to both
  // inputs.
  sum = sum.defined() ? ops::add(sum, gradient) : gradient;
}

void accumulate_leaf(Slot& leaf, Tensor&& gradient) {
  if (leaf.gradient.defined()) {
    ops::add_into(leaf.gradient, gradient);
  } else if (leaf.gradient_buffer.defined()) {
    ops::copy_into(leaf.gradient_buffer, gradient);
    leaf.gradient = leaf.gradient_buffer;
  } else {
    // Later calls add to this gradient in place, so no other tensor may share its storage.
    const bool sole = gradient.impl().use_count() == 1 && gradient.impl()->storage.use_count() == 1;
    leaf.gradient = sole && gradient.is_contiguous() ? std::move(gradient) : ops::clone(gradient);
  }
}

// An op that backward has not run yet.
struct Waiting {
  std::shared_ptr<Node> node;  ///< Freeing the record of an op must not destroy the ops below it before they have run.
  int users = 0;               ///< Ops that use it and have not run yet.
  Gradients gradients{};       ///< The sums so far, one for each output.
};
using WaitingOps = std::unordered_map<Node*, Waiting>;

// Returns all ops that the root depends on. Throws if the graph was freed.
WaitingOps ops_below(const std::shared_ptr<Node>& root) {
  WaitingOps waiting;
  waiting.emplace(root.get(), Waiting{root});
  std::vector<Node*> unseen{root.get()};
  while (!unseen.empty()) {
    Node* node = unseen.back();
    unseen.pop_back();
    require(node->backward != nullptr, "backward", "the record of ", node->op,
            " was freed by an earlier backward(); give that one retain_graph");
    for (const Node::Edge& edge : node->edges) {
      if (edge.node == nullptr) continue;
      const auto [at, is_new] = waiting.try_emplace(edge.node.get(), Waiting{edge.node});
      ++at->second.users;
      if (is_new) unseen.push_back(edge.node.get());
    }
  }
  return waiting;
}

struct LaterFirst {
  bool operator()(const Node* a, const Node* b) const { return a->sequence < b->sequence; }
};

void run_backward(const std::shared_ptr<Node>& root, std::size_t output, const Tensor& gradient, bool retain_graph) {
  WaitingOps waiting = ops_below(root);
  Gradients& of_root = waiting.at(root.get()).gradients;
  of_root.resize(root->output_count);
  of_root[output] = gradient;
  std::priority_queue<Node*, std::vector<Node*>, LaterFirst> ready;
  ready.push(root.get());

  while (!ready.empty()) {
    const auto current = waiting.extract(ready.top());
    ready.pop();
    Node* const node = current.key();
    const Gradients& own = current.mapped().gradients;
    const bool reached = std::any_of(own.begin(), own.end(), [](const Tensor& g) { return g.defined(); });
    Gradients results(node->edges.size());
    if (reached) {
      const WithPrecision same(node->precision);
      results = node->backward(own, autograd::Needs(node->needs));
    }
    if (!retain_graph) node->backward = nullptr;  // Returns the saved tensors to the pool while backward advances.
    require(results.size() == node->edges.size(), node->op, "backward gave ", results.size(), " gradients for ",
            node->edges.size(), " inputs");
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Node::Edge& edge = node->edges[i];
      if (!node->needs[i]) continue;
      if (results[i].defined())
        require(results[i].shape() == edge.shape, node->op, "backward gave a gradient of shape ", results[i].shape(),
                " for input ", i, " of shape ", edge.shape);
      if (edge.node == nullptr) {
        if (results[i].defined()) accumulate_leaf(static_cast<Slot&>(*edge.leaf), std::move(results[i]));
        continue;
      }
      Waiting& below = waiting.at(edge.node.get());
      below.gradients.resize(edge.node->output_count);
      if (results[i].defined()) accumulate(below.gradients[edge.output], results[i]);
      if (--below.users == 0) ready.push(edge.node.get());
    }
  }
}

}  // namespace

void Tensor::backward(const Tensor& gradient, bool retain_graph) const {
  require(defined() && requires_grad(), "backward", "the tensor does not depend on a leaf that wants a gradient");
  require(gradient.defined() || numel() == 1, "backward", "a gradient must be given for a tensor of shape ", shape(),
          ": only one element needs none");
  if (gradient.defined())
    require(gradient.shape() == shape() && gradient.dtype() == dtype() && gradient.device() == device(), "backward",
            "the gradient has shape ", gradient.shape(), " and dtype ", gradient.dtype(), ", the tensor ", shape(),
            " and ", dtype());
  const NoGrad no_grad;
  Tensor seed = gradient.defined() ? gradient.detach() : ones(shape(), dtype(), device());
  Slot& slot = *autograd::slot_of(*this);
  if (slot.node == nullptr)
    accumulate_leaf(slot, std::move(seed));
  else
    run_backward(slot.node, slot.output, seed, retain_graph);
}

}  // namespace crisol
