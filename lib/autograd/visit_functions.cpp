// The functions that a tensor keeps alive.
#include "autograd/node.h"
#include "crisol/gradients.h"

namespace crisol {

FunctionVisitor::~FunctionVisitor() = default;

namespace {

using autograd::Node;
using autograd::Slot;

void visit_hooks(const std::shared_ptr<autograd::HookList>& hooks, FunctionVisitor& visitor) {
  if (hooks != nullptr) hooks->visit(visitor);
}

// Calls `found` with the node of a slot, if the slot has only one owner.
template <class Found>
void visit_slot(const std::shared_ptr<AutogradSlot>& owned, FunctionVisitor& visitor, const Found& found) {
  if (owned == nullptr || owned.use_count() != 1) return;
  const Slot& slot = static_cast<const Slot&>(*owned);
  visit_hooks(slot.hooks, visitor);
  visit_hooks(slot.accumulated_hooks, visitor);
  if (slot.node != nullptr) found(slot.node);
}

}  // namespace

void visit_functions(const Tensor& tensor, std::int64_t handles, FunctionVisitor& visitor) {
  if (!tensor.defined() || tensor.impl().use_count() != handles) return;
  std::vector<const Node*> pending;  // A graph may be a chain of thousands of nodes, so this is a loop.
  const auto found = [&](const std::shared_ptr<Node>& node) {
    if (node != nullptr && node.use_count() == 1) pending.push_back(node.get());
  };
  visit_slot(tensor.impl()->autograd, visitor, found);
  while (!pending.empty()) {
    const Node& node = *pending.back();
    pending.pop_back();
    for (const autograd::Watched& one : node.watched) visit_hooks(one.hooks, visitor);
    if (const auto custom = node.custom.lock()) visitor.backward(*custom);
    if (const auto watcher = node.watcher.lock()) visitor.watch(*watcher);
    for (const Node::Edge& edge : node.edges) {
      found(edge.node);
      visit_slot(edge.leaf, visitor, found);
    }
  }
}

}  // namespace crisol
