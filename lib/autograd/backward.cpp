// // Tensor::backward: walks the recorded graph in reverse.
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

// Returns all ops that the root depends on, and for each op the number of its uses. Throws if the graph was freed.
std::unordered_map<Node*, int> count_users(Node* root) {
  std::unordered_map<Node*, int> users{{root, 0}};
  std::vector<Node*> pending{root};
  while (!pending.empty()) {
    Node* node = pending.back();
    pending.pop_back();
    require(node->backward != nullptr, "backward", "the record of ", node->op,
            " was freed by an earlier backward(); give that one retain_graph");
    for (const Node::Edge& edge : node->edges) {
      if (edge.node == nullptr) continue;
      const auto [at, is_new] = users.try_emplace(edge.node.get(), 0);
      ++at->second;
      if (is_new) pending.push_back(edge.node.get());
    }
  }
  return users;
}

struct LaterFirst {
  bool operator()(const Node* a, const Node* b) const { return a->sequence < b->sequence; }
};

void run_backward(const std::shared_ptr<Node>& root, std::size_t output, const Tensor& gradient, bool retain_graph) {
  std::unordered_map<Node*, int> users = count_users(root.get());
  std::unordered_map<Node*, Gradients> gradients;
  gradients[root.get()].resize(root->output_count);
  gradients[root.get()][output] = gradient;
  // These pointers keep the ops alive: freeing the record of an op must not destroy the ops below it before they have
  // run.
  std::unordered_map<Node*, std::shared_ptr<Node>> alive{{root.get(), root}};
  std::priority_queue<Node*, std::vector<Node*>, LaterFirst> ready;
  ready.push(root.get());

  while (!ready.empty()) {
    Node* node = ready.top();
    ready.pop();
    const auto own = gradients.extract(node);
    const bool reached =
        std::any_of(own.mapped().begin(), own.mapped().end(), [](const Tensor& g) { return g.defined(); });
    Gradients results(node->edges.size());
    if (reached) {
      const WithPrecision same(node->precision);
      results = node->backward(own.mapped(), autograd::Needs(node->needs));
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
      Node* below = edge.node.get();
      Gradients& sums = gradients[below];
      sums.resize(below->output_count);
      if (results[i].defined()) accumulate(sums[edge.output], results[i]);
      alive.emplace(below, edge.node);
      if (--users[below] == 0) ready.push(below);
    }
    alive.erase(node);
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
