#include "autograd/node.h"

#include <algorithm>
#include <atomic>

#include "autograd/anomaly.h"
#include "autograd/in_place.h"
#include "crisol/ops/copy.h"
#include "runtime/timeline/timeline.h"

namespace crisol::autograd {

namespace {

std::uint64_t next_sequence() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

// Releases a node. Destroying a node releases the nodes before it. A graph can be a chain of thousands of ops, and
// recursion would overflow the stack. So a loop destroys the nodes.
void release(std::shared_ptr<Node>&& node) {
  thread_local std::vector<std::shared_ptr<Node>>* pending = nullptr;
  if (pending != nullptr) {
    pending->push_back(std::move(node));
    return;
  }
  std::vector<std::shared_ptr<Node>> own;
  pending = &own;
  own.push_back(std::move(node));
  while (!own.empty()) {
    const std::shared_ptr<Node> last = std::move(own.back());
    own.pop_back();
  }
  pending = nullptr;
}

}  // namespace

Slot* slot_of(const Tensor& tensor) noexcept {
  if (!tensor.defined()) return nullptr;
  const TensorImpl& impl = *tensor.impl();
  if (impl.view_of != nullptr && impl.view_of->recorded_writes != impl.recorded_writes) follow_writes(tensor);
  return static_cast<Slot*>(impl.autograd.get());
}

Slot& ensure_slot(const Tensor& tensor) {
  if (tensor.impl()->autograd == nullptr) tensor.impl()->autograd = std::make_shared<Slot>();
  return *slot_of(tensor);
}

Node::Node(const char* name, std::size_t outputs, const std::vector<Tensor>& inputs, Backward function)
    : op(name),
      output_count(outputs),
      sequence(next_sequence()),
      precision(crisol::precision()),
      backward(std::move(function)) {
  edges.reserve(inputs.size());
  for (const Tensor& input : inputs) edges.push_back(edge_of(input));
}

Node::~Node() {
  for (Edge& edge : edges)
    if (edge.node != nullptr) release(std::move(edge.node));
}

Node::Edge Node::edge_of(const Tensor& tensor) {
  Edge edge;
  if (tensor.defined()) edge.shape = tensor.shape();
  const Slot* slot = slot_of(tensor);
  if (slot != nullptr && slot->node != nullptr) {
    edge.node = slot->node;
    edge.output = slot->output;
  } else if (slot != nullptr && slot->wanted) {
    edge.leaf = tensor.impl()->autograd;
  }
  return edge;
}

Watched& Node::watch(std::size_t output) {
  for (Watched& one : watched)
    if (one.output == output) return one;
  return watched.emplace_back(Watched{output, nullptr, {}});
}

Slot::~Slot() {
  if (node != nullptr) release(std::move(node));
}

std::vector<Tensor> record_many(const char* op, std::vector<Tensor> outputs, const std::vector<Tensor>& inputs,
                                Node::Backward backward, Order order) {
  const runtime::TimelineSlice slice("autograd", op);
  auto node = std::make_shared<Node>(op, outputs.size(), inputs, std::move(backward));
  node->order = order;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Tensor& output = outputs[i];
    if (!output.defined()) continue;
    // An op may return its input unchanged (contiguous() of a contiguous tensor). The input already has a place in the
    // graph, so the output becomes a view of it, and the view gets the new place.
    if (output.impl()->autograd != nullptr)
      output = make_view(output, output.shape(), output.strides(), output.offset());
    note_view(output, inputs);
    Slot& slot = ensure_slot(output);
    slot.node = node;
    slot.output = i;
  }
  if (slice) runtime::timeline_flow_start("backward", node->sequence, runtime::timeline_clock());
  return outputs;
}

namespace {

void take_memory(const std::shared_ptr<TensorImpl>& impl, const Tensor& from) {
  replace_storage(Tensor(impl), from);
  impl->shape = from.shape();
  impl->dtype = from.dtype();
}

// Removes a tensor from the list of a slot, and also tensors that no longer exist.
void remove_tied(Slot& slot, const TensorImpl* tensor) {
  const auto leaves = [&](const std::weak_ptr<TensorImpl>& entry) {
    const std::shared_ptr<TensorImpl> impl = entry.lock();
    return impl == nullptr || impl.get() == tensor;
  };
  slot.tied.erase(std::remove_if(slot.tied.begin(), slot.tied.end(), leaves), slot.tied.end());
}

}  // namespace

void tie(const Tensor& leaf, const Tensor& other) {
  Slot& shared = ensure_slot(other);
  if (slot_of(leaf) == &shared) return;
  for (const Tensor* tensor : {&other, &leaf}) {
    remove_tied(shared, tensor->impl().get());
    shared.tied.push_back(tensor->impl());
  }
  if (Slot* old = slot_of(leaf)) remove_tied(*old, leaf.impl().get());
  leaf.impl()->autograd = other.impl()->autograd;
  take_memory(leaf.impl(), other);
}

void replace_leaf(const Tensor& leaf, const Tensor& value) {
  take_memory(leaf.impl(), value);
  const Slot* slot = slot_of(leaf);
  if (slot == nullptr) return;
  for (const std::weak_ptr<TensorImpl>& entry : slot->tied)
    if (const std::shared_ptr<TensorImpl> impl = entry.lock()) take_memory(impl, value);
}

const void* identity_of(const Tensor& tensor) noexcept {
  const Slot* slot = slot_of(tensor);
  if (slot != nullptr) return slot;
  return tensor.impl().get();
}

void clear_gradient(const Tensor& parameter) noexcept {
  if (Slot* slot = slot_of(parameter)) slot->gradient = Tensor();
}

void zero_gradient(const Tensor& parameter) {
  const Slot* slot = slot_of(parameter);
  if (slot == nullptr || !slot->gradient.defined()) return;
  slot->gradient.impl()->autograd = nullptr;
  ops::fill_into(slot->gradient, 0);
}

}  // namespace crisol::autograd
