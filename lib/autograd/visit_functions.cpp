// The functions that the parts of a graph keep alive.
#include <unordered_map>

#include "autograd/node.h"
#include "crisol/graph_parts.h"

namespace crisol {

FunctionVisitor::~FunctionVisitor() = default;
PartVisitor::~PartVisitor() = default;

namespace {

using autograd::CheckpointFrame;
using autograd::Node;
using autograd::Slot;
using Kind = GraphPart::Kind;

void visit_hooks(const std::shared_ptr<autograd::HookList>& hooks, FunctionVisitor& visitor) {
  if (hooks != nullptr) hooks->visit(visitor);
}

bool keeps_graph(const TensorImpl& tensor) { return tensor.autograd != nullptr || tensor.view_of != nullptr; }

// Walks over the parts that live only because of one part. Something with several owners is one of them if the walk
// meets it as often as it has owners: then all its owners live only because of that part too.
class Walk {
 public:
  explicit Walk(FunctionVisitor& visitor, PartVisitor* parts = nullptr) : visitor_(visitor), parts_(parts) {}

  void run(Kind kind, const void* part) {
    if (kind == Kind::tensor) inside(*static_cast<const TensorImpl*>(part));
    if (kind == Kind::place) inside(static_cast<const Slot&>(*static_cast<const AutogradSlot*>(part)));
    if (kind == Kind::op) pending_.push_back(static_cast<const Node*>(part));
    if (kind == Kind::checkpoint) inside(*static_cast<const CheckpointFrame*>(part));
    // A graph may be a chain of thousands of nodes, so this is a loop.
    while (!pending_.empty()) {
      const Node& node = *pending_.back();
      pending_.pop_back();
      inside(node);
    }
    if (parts_ == nullptr) return;
    for (const auto& [address, one] : met_)
      if (one.owners < one.part.part.use_count()) parts_->shared(one.part, one.owners);
  }

 private:
  struct Met {
    GraphPart part;
    std::int64_t owners = 0;
  };

  // A view owns its base, which has a slot too.
  void inside(const TensorImpl& tensor) {
    if (tensor.autograd != nullptr) place(tensor.autograd);
    if (tensor.view_of != nullptr) this->tensor(tensor.view_of);
  }

  void inside(const Slot& slot) {
    visit_hooks(slot.hooks, visitor_);
    visit_hooks(slot.accumulated_hooks, visitor_);
    if (slot.node != nullptr) node(slot.node);
    if (slot.gradient.defined()) tensor(slot.gradient.impl());
  }

  void inside(const Node& node) {
    for (const autograd::Watched& one : node.watched) visit_hooks(one.hooks, visitor_);
    if (const auto custom = node.custom.lock()) visitor_.backward(*custom);
    if (const auto watcher = node.watcher.lock()) visitor_.watch(*watcher);
    for (const std::weak_ptr<TensorImpl>& saved : node.saved)
      if (const auto tensor = saved.lock(); tensor != nullptr && tensor.use_count() == 2) inside(*tensor);
    for (const std::weak_ptr<autograd::Recomputed::Place>& recomputed : node.recomputed)
      if (const auto place = recomputed.lock(); place != nullptr && place.use_count() == 2) frame(frame_of(*place));
    for (const Node::Edge& edge : node.edges) {
      if (edge.node != nullptr) this->node(edge.node);
      if (edge.leaf != nullptr) place(edge.leaf);
    }
  }

  void inside(const CheckpointFrame& frame) {
    visitor_.checkpoint(function_of(frame));
    for (const TensorImpl* input : inputs_of(frame)) inside(*input);
  }

  void frame(const std::shared_ptr<CheckpointFrame>& owned) {
    if (is_last(Kind::checkpoint, owned)) inside(*owned);
  }

  void tensor(const std::shared_ptr<TensorImpl>& owned) {
    if (keeps_graph(*owned) && is_last(Kind::tensor, owned)) inside(*owned);
  }

  void place(const std::shared_ptr<AutogradSlot>& owned) {
    if (is_last(Kind::place, owned)) inside(static_cast<const Slot&>(*owned));
  }

  void node(const std::shared_ptr<Node>& owned) {
    if (is_last(Kind::op, owned)) pending_.push_back(owned.get());
  }

  // Counts one more owner of something, and says whether it was the last one.
  template <class T>
  bool is_last(Kind kind, const std::shared_ptr<T>& owned) {
    if (owned.use_count() == 1) return true;
    Met& met = met_[owned.get()];
    if (met.owners == 0) met.part = {kind, owned};
    return ++met.owners == owned.use_count();
  }

  FunctionVisitor& visitor_;
  PartVisitor* const parts_;
  std::vector<const Node*> pending_;
  std::unordered_map<const void*, Met> met_;
};

}  // namespace

void visit_part(const GraphPart& part, std::int64_t owners, PartVisitor& visitor) {
  {
    const std::shared_ptr<const void> kept = part.part.lock();
    if (kept == nullptr) return;
    if (part.kind == Kind::tensor && !keeps_graph(*static_cast<const TensorImpl*>(kept.get()))) return;
    if (kept.use_count() == owners + 1) return Walk(visitor, &visitor).run(part.kind, kept.get());
  }
  visitor.shared(part, owners);
}

void visit_functions(const Tensor& tensor, std::int64_t handles, FunctionVisitor& visitor) {
  if (tensor.defined() && tensor.impl().use_count() == handles) Walk(visitor).run(Kind::tensor, tensor.impl().get());
}

}  // namespace crisol
