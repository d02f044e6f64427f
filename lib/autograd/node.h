// The record of one differentiable op. Functions make it by autograd/call.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "autograd/hooks.h"
#include "autograd/saved.h"
#include "base/thread_context.h"
#include "crisol/autograd.h"
#include "crisol/precision.h"
#include "tensor/impl.h"
#include "tensor/trace.h"

namespace crisol::autograd {

/// One gradient for each input (or each output) of the op. It is undefined for a tensor without a gradient.
using Gradients = std::vector<Tensor>;

/// needs[i] says whether the gradient of input i is needed. A backward function may leave other gradients
/// undefined.
class Needs {
 public:
  explicit Needs(const std::vector<bool>& wanted) noexcept : wanted_(&wanted) {}
  bool operator[](std::size_t input) const { return (*wanted_)[input]; }

 private:
  const std::vector<bool>* wanted_;
};

/// Which gradients an op has: only the gradient with respect to its inputs, or also gradients of this gradient.
enum class Order : std::uint8_t { first, every };

class Node;

/// The data that autograd keeps with a tensor.
struct Slot : AutogradSlot {
  Slot() = default;
  ~Slot() override;

  bool wanted = false;              ///< True for a leaf that requires a gradient.
  Tensor gradient;                  ///< The accumulated gradient; undefined before the first backward and after
                                    /// zero_grad.
  Tensor gradient_buffer;           ///< Where an optimiser wants the gradient to be stored, or undefined.
  std::shared_ptr<Node> node;       ///< The op that made the tensor; null for a leaf.
  std::size_t output = 0;           ///< The number of this tensor among the outputs of `node`.
  std::shared_ptr<HookList> hooks;  ///< Hooks of a leaf that get its gradient before it is accumulated.
  std::shared_ptr<HookList> accumulated_hooks;  ///< Hooks of a leaf that run after its gradient was accumulated.
  /// The tensors with this slot, if there are several: tied parameters.
  std::vector<std::weak_ptr<TensorImpl>> tied;
  /// The name of the optimiser that updates the leaf. It expires with the optimiser.
  std::weak_ptr<const std::string> optimizer;
};

/// The slot of a tensor, or nullptr. If an op in place was recorded since, a view first gets a new place in the graph.
Slot* slot_of(const Tensor& tensor) noexcept;
/// The slot of a tensor; makes a slot if there is none.
Slot& ensure_slot(const Tensor& tensor);

/// An output of an op that somebody watches in backward.
struct Watched {
  std::size_t output = 0;
  std::shared_ptr<HookList> hooks;
  std::weak_ptr<AutogradSlot> retained;  ///< After retain_grad(): the slot that gets the gradient.
};

class Node : public std::enable_shared_from_this<Node> {
 public:
  using Backward = std::function<Gradients(const Gradients& output_gradients, Needs)>;

  /// Where an input's gradient goes: to the op that made the input, or to the leaf itself.
  struct Edge {
    std::shared_ptr<Node> node;
    std::size_t output = 0;
    std::shared_ptr<AutogradSlot> leaf;
    Shape shape;

    bool wanted() const noexcept { return node != nullptr || leaf != nullptr; }
  };

  /// Where a tensor's gradient goes. The tensor may be undefined.
  static Edge edge_of(const Tensor& tensor);
  /// The entry of an output in `watched`; makes an entry if there is none.
  Watched& watch(std::size_t output);

  Node(const char* op, std::size_t output_count, const std::vector<Tensor>& inputs, Backward backward);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const char* op;
  const std::size_t output_count;
  const std::uint64_t sequence;  ///< Later ops have higher numbers.
  const Precision precision;     ///< The precision of the op and of its gradient.
  std::vector<Edge> edges;
  Backward backward;           ///< Empty after it was used and freed.
  Order order = Order::every;  ///< `first`: the backward function is not recorded.
  std::vector<Watched> watched;
  /// The tensors with a place in the graph that `backward` owns. They are known if call() made the node.
  std::vector<std::weak_ptr<TensorImpl>> saved;
  std::vector<std::weak_ptr<Recomputed::Place>> recomputed;  ///< The same for tensors of a checkpoint().
  std::weak_ptr<const BackwardFunction> custom;    ///< The function of a custom_function(). `backward` owns it.
  std::weak_ptr<const GradientsFunction> watcher;  ///< The function of a watch_gradients(). `backward` owns it.
};

/// Links the defined outputs to the inputs and returns the linked tensors. `backward(gradients, needs)` gets the
/// gradients of the outputs. A gradient is undefined if nothing depends on the output. It returns one gradient for each
/// input.
std::vector<Tensor> record_many(const char* op, std::vector<Tensor> outputs, const std::vector<Tensor>& inputs,
                                Node::Backward backward, Order order = Order::every);

/// The same for one output. `backward` takes its gradient, or the gradient and Needs. It returns a tensor, if there is
/// one input.
template <class Backward>
Tensor record(const char* op, const Tensor& output, const std::vector<Tensor>& inputs, Backward backward,
              Order order = Order::every) {
  return record_many(
      op, {output}, inputs,
      [backward = std::move(backward)](const Gradients& gradients, [[maybe_unused]] Needs needs) {
        if constexpr (std::is_invocable_v<const Backward&, const Tensor&, Needs>)
          return Gradients{backward(gradients[0], needs)};
        else
          return Gradients{backward(gradients[0])};
      },
      order)[0];
}

/// Ties a leaf to another leaf: from now on both have the memory and the slot of `other`. If the leaf was tied to other
/// leaves, it leaves them.
void tie(const Tensor& leaf, const Tensor& other);

/// Gives a leaf the memory, shape and dtype of `value`, together with all leaves that are tied to it.
void replace_leaf(const Tensor& leaf, const Tensor& value);

/// A pointer that identifies the tensor. Tied leaves and handles of one tensor have the same pointer.
const void* identity_of(const Tensor& tensor) noexcept;

/// Drops the gradient of a leaf: the next backward starts from nothing.
void clear_gradient(const Tensor& parameter) noexcept;

/// Fills the gradient of a leaf with zeros, if there is one, and takes it out of the graph. It stays the same tensor.
void zero_gradient(const Tensor& parameter);

}  // namespace crisol::autograd
