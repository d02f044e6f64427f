#include "autograd/node.h"

#include <algorithm>
#include <atomic>

#include "base/text.h"
#include "crisol/ops/copy.h"

namespace crisol::autograd {

namespace {

std::uint64_t next_sequence() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

Saved::Saved(const Tensor& tensor) {
  if (!tensor.defined()) return;
  tensor_ = make_view(tensor, tensor.shape(), tensor.strides(), tensor.offset());
  version_ = tensor.impl()->storage->version.load(std::memory_order_relaxed);
}

const Tensor& Saved::get() const {
  if (!tensor_.defined()) return tensor_;
  const std::uint64_t now = tensor_.impl()->storage->version.load(std::memory_order_relaxed);
  require(now == version_, "backward", "a tensor of shape ", tensor_.shape(),
          " that is needed for the gradient was changed in place (version ", now, ", saved at ", version_, ")");
  return tensor_;
}

Slot* slot_of(const Tensor& tensor) noexcept {
  return tensor.defined() ? static_cast<Slot*>(tensor.impl()->autograd.get()) : nullptr;
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
  needs.reserve(inputs.size());
  for (const Tensor& input : inputs) {
    Edge edge;
    if (input.defined()) edge.shape = input.shape();
    const Slot* slot = slot_of(input);
    if (slot != nullptr && slot->node != nullptr) {
      edge.node = slot->node;
      edge.output = slot->output;
    } else if (slot != nullptr && slot->wanted) {
      edge.leaf = input.impl()->autograd;
    }
    needs.push_back(edge.node != nullptr || edge.leaf != nullptr);
    edges.push_back(std::move(edge));
  }
}

Node::~Node() {
  // A graph can be a chain of thousands of ops (a long sequence). Recursion would overflow the stack, so a loop
  // destroys them.
  thread_local std::vector<std::shared_ptr<Node>>* pending = nullptr;
  std::vector<std::shared_ptr<Node>> own;
  const bool outermost = pending == nullptr;
  if (outermost) pending = &own;
  for (Edge& edge : edges)
    if (edge.node != nullptr) pending->push_back(std::move(edge.node));
  if (!outermost) return;
  while (!own.empty()) {
    const std::shared_ptr<Node> last = std::move(own.back());
    own.pop_back();
  }
  pending = nullptr;
}

bool recording(const std::vector<Tensor>& inputs) noexcept {
  return grad_enabled() && std::any_of(inputs.begin(), inputs.end(), [](const Tensor& x) { return x.requires_grad(); });
}

std::vector<Tensor> record_many(const char* op, std::vector<Tensor> outputs, const std::vector<Tensor>& inputs,
                                Node::Backward backward) {
  auto node = std::make_shared<Node>(op, outputs.size(), inputs, std::move(backward));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Tensor& output = outputs[i];
    // An op may return its input unchanged (contiguous() of a contiguous tensor). Such a tensor already has a place in
    // the graph, so a new handle takes the new place.
    if (output.impl()->autograd != nullptr) output = output.detach();
    Slot& slot = ensure_slot(output);
    slot.node = node;
    slot.output = i;
  }
  return outputs;
}

void move_into_arena(Tensor& parameter, const Tensor& value, const Tensor& gradient_buffer) {
  ops::copy_into(value, parameter);
  Slot& slot = ensure_slot(parameter);
  if (slot.gradient.defined()) {
    ops::copy_into(gradient_buffer, slot.gradient);
    slot.gradient = gradient_buffer;
  }
  slot.gradient_buffer = gradient_buffer;
  replace_leaf(parameter, value);
}

namespace {

void take_memory(const std::shared_ptr<TensorImpl>& impl, const Tensor& from) {
  replace_storage(Tensor(impl), from);
  impl->shape = from.shape();
  impl->dtype = from.dtype();
}

// Removes a tensor, and tensors that are gone, from the list of a slot.
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

}  // namespace crisol::autograd
