// The functions that a tensor keeps alive.
#include <unordered_map>

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

// Walks over the slots and nodes that live only because of a tensor. Something with several owners is one of them if
// the walk meets it as often as it has owners: then all its owners live only because of the tensor too.
class Walk {
 public:
  explicit Walk(FunctionVisitor& visitor) : visitor_(visitor) {}

  // A view owns its base, which has a slot too.
  void tensor(const TensorImpl& owner) {
    slot(owner.autograd);
    if (owner.view_of != nullptr && is_last(owner.view_of)) tensor(*owner.view_of);
  }

  // A graph may be a chain of thousands of nodes, so this is a loop.
  void run() {
    while (!pending_.empty()) {
      const Node& node = *pending_.back();
      pending_.pop_back();
      functions_of(node);
      for (const Node::Edge& edge : node.edges) {
        this->node(edge.node);
        slot(edge.leaf);
      }
    }
  }

 private:
  void slot(const std::shared_ptr<AutogradSlot>& owned) {
    if (owned == nullptr || !is_last(owned)) return;
    const Slot& slot = static_cast<const Slot&>(*owned);
    visit_hooks(slot.hooks, visitor_);
    visit_hooks(slot.accumulated_hooks, visitor_);
    node(slot.node);
  }

  // Counts one more owner of something, and says whether it was the last one.
  template <class T>
  bool is_last(const std::shared_ptr<T>& owned) {
    return owned.use_count() == 1 || ++owners_[owned.get()] == owned.use_count();
  }

  void node(const std::shared_ptr<Node>& owned) {
    if (owned != nullptr && is_last(owned)) pending_.push_back(owned.get());
  }

  void functions_of(const Node& node) {
    for (const autograd::Watched& one : node.watched) visit_hooks(one.hooks, visitor_);
    if (const auto custom = node.custom.lock()) visitor_.backward(*custom);
    if (const auto watcher = node.watcher.lock()) visitor_.watch(*watcher);
    if (node.backward == nullptr) return;
    for (const std::weak_ptr<TensorImpl>& saved : node.saved)
      if (const auto tensor = saved.lock(); tensor != nullptr && tensor.use_count() == 2) slot(tensor->autograd);
  }

  FunctionVisitor& visitor_;
  std::vector<const Node*> pending_;
  std::unordered_map<const void*, std::int64_t> owners_;
};

}  // namespace

void visit_functions(const Tensor& tensor, std::int64_t handles, FunctionVisitor& visitor) {
  if (!tensor.defined() || tensor.impl().use_count() != handles) return;
  Walk walk(visitor);
  walk.tensor(*tensor.impl());
  walk.run();
}

}  // namespace crisol
