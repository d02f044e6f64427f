#include "autograd/engine.h"

#include <algorithm>
#include <utility>

#include "autograd/accumulate.h"
#include "autograd/after_backward.h"
#include "autograd/anomaly.h"
#include "autograd/autocast.h"
#include "base/text.h"
#include "runtime/timeline/timeline.h"

namespace crisol::autograd {

namespace {

/// Sets the op whose backward function runs, and whether it is recorded.
class NodeScope {
 public:
  NodeScope(Node* node, bool recorded)
      : node_(std::exchange(thread_context().backward.node, node)),
        grad_(std::exchange(thread_context().grad.enabled, recorded)) {}
  ~NodeScope() {
    thread_context().backward.node = node_;
    thread_context().grad.enabled = grad_;
  }
  NodeScope(const NodeScope&) = delete;
  NodeScope& operator=(const NodeScope&) = delete;

 private:
  Node* const node_;
  const bool grad_;
};

// Links gradients that an op computed without a record to the gradients of its outputs and to its inputs. Backward
// through these gradients throws.
void make_first_order_only(Node& node, const Gradients& own, Gradients& results) {
  Gradients outputs;
  for (const Tensor& result : results)
    if (result.defined()) outputs.push_back(result.detach());
  if (outputs.empty()) return;
  const auto refusal =
      std::make_shared<Node>(node.op, outputs.size(), own, [op = node.op](const Gradients&, Needs) -> Gradients {
        fail(ErrorCode::invalid_argument, "backward", op, " has no gradient of its gradient");
      });
  refusal->edges.insert(refusal->edges.end(), node.edges.begin(), node.edges.end());
  std::size_t output = 0;
  for (Tensor& result : results) {
    if (!result.defined()) continue;
    result = outputs[output];
    Slot& slot = ensure_slot(result);
    slot.node = refusal;
    slot.output = output++;
  }
}

}  // namespace

void Engine::capture(const Tensor& tensor) {
  const Node::Edge edge = Node::edge_of(tensor);
  captures_.push_back({edge.node.get(), edge.output, static_cast<Slot*>(edge.leaf.get())});
  captured_.emplace_back();
}

bool Engine::captures(const Node::Edge& edge) const {
  return std::any_of(captures_.begin(), captures_.end(), [&](const Capture& capture) {
    return edge.node != nullptr ? capture.node == edge.node.get() && capture.output == edge.output
                                : capture.leaf != nullptr && capture.leaf == edge.leaf.get();
  });
}

// Finds all ops that the outputs depend on.
void Engine::collect(const std::vector<Tensor>& outputs) {
  const auto add = [&](const std::shared_ptr<Node>& node) {
    if (node == nullptr) return;
    if (waiting_.try_emplace(node.get(), Waiting{node, {}, captures_.empty()}).second) order_.push_back(node.get());
  };
  for (const Tensor& output : outputs) add(Node::edge_of(output).node);
  for (std::size_t i = 0; i < order_.size(); ++i)
    for (const Node::Edge& edge : order_[i]->edges) add(edge.node);
  // An op is made after its inputs, so the ops that use an op come before it in this order.
  std::sort(order_.begin(), order_.end(), [](const Node* a, const Node* b) { return a->sequence > b->sequence; });
}

// Finds the ops to run, if not all ops run: the ops that depend on a captured tensor.
void Engine::find_needed() {
  for (auto node = order_.rbegin(); node != order_.rend(); ++node) {
    bool runs = captures_.empty();
    for (std::size_t i = 0; !runs && i < (*node)->edges.size(); ++i) runs = needs((*node)->edges[i]);
    if (runs && !captures_.empty()) waiting_.at(*node).runs = true;
    require(!runs || (*node)->backward != nullptr, op_, "the record of ", (*node)->op,
            " was freed by an earlier backward(); give that one retain_graph");
  }
}

// Notes that a part of a watched leaf's gradient will come through this edge.
void Engine::expect(const Node::Edge& edge) {
  if (edge.leaf == nullptr) return;
  Slot* const slot = static_cast<Slot*>(edge.leaf.get());
  const bool watched =
      captures_.empty() ? slot->hooks != nullptr || slot->accumulated_hooks != nullptr : captures(edge);
  if (watched) ++leaves_[slot].parts;
}

std::vector<Tensor> Engine::run(const std::vector<Tensor>& outputs, std::vector<Tensor> gradients) {
  const runtime::TimelineSlice slice("backward", op_);
  const runtime::BackwardRow second_row;
  const PauseAutocast types_of_forward;
  collect(outputs);
  find_needed();
  for (const Tensor& output : outputs) expect(Node::edge_of(output));
  for (Node* const node : order_)
    if (captures_.empty() || waiting_.at(node).runs)
      for (const Node::Edge& edge : node->edges) expect(edge);
  for (std::size_t i = 0; i < captures_.size() && !options_.allow_unused; ++i)
    require(
        captures_[i].node != nullptr ? waiting_.count(captures_[i].node) != 0 : leaves_.count(captures_[i].leaf) != 0,
        op_, "no output depends on input ", i, "; allow_unused gives an undefined gradient for it");
  AfterBackward().around([&] {
    {
      const NodeScope scope(nullptr, options_.create_graph);
      for (std::size_t i = 0; i < outputs.size(); ++i) deliver(Node::edge_of(outputs[i]), std::move(gradients[i]));
    }
    for (Node* const node : order_) process(node);
  });
  return std::move(captured_);
}

void Engine::deliver(const Node::Edge& edge, Tensor&& gradient) {
  if (edge.node != nullptr) {
    Waiting& below = waiting_.at(edge.node.get());
    if (!below.runs && !captures(edge)) return;
    below.gradients.resize(edge.node->output_count);
    if (gradient.defined()) accumulate(below.gradients[edge.output], std::move(gradient));
    return;
  }
  const auto found = leaves_.find(static_cast<Slot*>(edge.leaf.get()));
  if (found == leaves_.end()) {
    if (captures_.empty() && gradient.defined()) accumulate_leaf(static_cast<Slot&>(*edge.leaf), std::move(gradient));
    return;
  }
  Leaf& leaf = found->second;
  if (gradient.defined()) accumulate(leaf.sum, std::move(gradient));
  if (--leaf.parts == 0 && leaf.sum.defined()) finish(edge.leaf, std::move(leaf.sum));
}

// Called when all parts of a leaf's gradient are there.
void Engine::finish(const std::shared_ptr<AutogradSlot>& slot, Tensor&& gradient) {
  Slot& leaf = static_cast<Slot&>(*slot);
  if (leaf.hooks != nullptr) gradient = leaf.hooks->run(std::move(gradient));
  for (std::size_t i = 0; i < captures_.size(); ++i)
    if (captures_[i].leaf == &leaf) captured_[i] = gradient;
  if (!captures_.empty()) return;
  accumulate_leaf(leaf, std::move(gradient));
  if (leaf.accumulated_hooks != nullptr) leaf.accumulated_hooks->run(leaf.gradient);
}

// The gradients of an op's outputs, after the hooks. Stores those that are captured or retained.
Gradients Engine::own_gradients(Node& node, Waiting& waiting) {
  Gradients own = std::move(waiting.gradients);
  own.resize(node.output_count);
  for (const Watched& watched : std::vector<Watched>(node.watched)) {
    Tensor& gradient = own[watched.output];
    if (!gradient.defined()) continue;
    const NodeScope scope(nullptr, options_.create_graph);
    if (watched.hooks != nullptr) gradient = watched.hooks->run(gradient);
    if (!captures_.empty()) continue;
    if (const auto slot = std::static_pointer_cast<Slot>(watched.retained.lock()))
      accumulate_leaf(*slot, Tensor(gradient));
  }
  for (std::size_t i = 0; i < captures_.size(); ++i)
    if (captures_[i].node == &node) captured_[i] = own[captures_[i].output];
  return own;
}

// Whether the gradient that goes through this edge is used.
bool Engine::needs(const Node::Edge& edge) const {
  if (captures_.empty()) return edge.wanted();
  return edge.wanted() && (captures(edge) || (edge.node != nullptr && waiting_.at(edge.node.get()).runs));
}

Gradients Engine::run_node(Node& node, const Gradients& own) {
  const bool recorded = options_.create_graph && node.order == Order::every;
  const NodeScope scope(&node, recorded);
  const WithPrecision same(node.precision);
  const runtime::TimelineSlice slice("backward", node.op);
  if (slice) runtime::timeline_flow_end("backward", node.sequence, runtime::host_row(), runtime::timeline_clock());
  Gradients results = node.backward(own, Needs(needed_));
  require(results.size() == node.edges.size(), node.op, "backward gave ", results.size(), " gradients for ",
          node.edges.size(), " inputs");
  if (options_.create_graph && !recorded) make_first_order_only(node, own, results);
  if (detects_anomaly()) check(node, results);
  return results;
}

void Engine::check(const Node& node, const Gradients& results) const {
  for (std::size_t i = 0; i < results.size(); ++i)
    require(is_finite(results[i]), op_, "the gradient of ", node.op, " for its input ", i, " of shape ",
            node.edges[i].shape, " holds NaN or infinity; it is op ", done_, " of ", order_.size(),
            " in this backward, and the gradients before it are finite");
}

void Engine::process(Node* key) {
  auto current = waiting_.extract(key);
  Node& node = *key;
  const Gradients own = own_gradients(node, current.mapped());
  if (!current.mapped().runs) return;
  ++done_;
  needed_.clear();
  for (const Node::Edge& edge : node.edges) needed_.push_back(needs(edge));
  Gradients results(node.edges.size());
  if (std::any_of(own.begin(), own.end(), [](const Tensor& g) { return g.defined(); })) results = run_node(node, own);
  // Returns the saved tensors to the pool while backward advances.
  if (!options_.retain_graph && !options_.create_graph) node.backward = nullptr;
  const NodeScope scope(nullptr, options_.create_graph);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Node::Edge& edge = node.edges[i];
    if (!needed_[i]) continue;
    if (results[i].defined())
      require(results[i].shape() == edge.shape, node.op, "backward gave a gradient of shape ", results[i].shape(),
              " for input ", i, " of shape ", edge.shape);
    deliver(edge, std::move(results[i]));
  }
}

}  // namespace crisol::autograd
