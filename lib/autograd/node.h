// The record of one differentiable op, and how a function makes it.
//
//     Tensor relu(const Tensor& x) {
//       Tensor y = ops::relu(x);
//       if (!autograd::recording({x})) return y;
//       return autograd::record("relu", y, {x}, [y = autograd::Saved(y)](const Tensor& dy, autograd::Needs) {
//         return autograd::Gradients{ops::relu_backward(dy, y.get())};
//       });
//     }
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "crisol/autograd.h"
#include "crisol/precision.h"
#include "tensor/impl.h"

namespace crisol::autograd {

/// One gradient for each input of the op, or for each output; undefined where there is none.
using Gradients = std::vector<Tensor>;

/// needs[i]: the gradient of input i is wanted; a backward may leave the others undefined.
class Needs {
 public:
  explicit Needs(const std::vector<bool>& wanted) noexcept : wanted_(&wanted) {}
  bool operator[](std::size_t input) const { return (*wanted_)[input]; }

 private:
  const std::vector<bool>* wanted_;
};

/// A tensor kept for backward: outside the graph, so that there are no cycles, and with its version.
class Saved {
 public:
  explicit Saved(const Tensor& tensor);
  /// Throws invalid_argument when the tensor's elements were changed since it was saved.
  const Tensor& get() const;

 private:
  Tensor tensor_;
  std::uint64_t version_ = 0;
};

class Node;

/// What autograd keeps with a tensor.
struct Slot : AutogradSlot {
  bool wanted = false;         ///< A leaf whose gradient is wanted.
  Tensor gradient;             ///< Accumulated; undefined before the first backward and after zero_grad.
  Tensor gradient_buffer;      ///< Where an optimiser wants the gradient to live, or undefined.
  std::shared_ptr<Node> node;  ///< The op that made the tensor; null for a leaf.
  std::size_t output = 0;      ///< Which of its outputs.
};

/// The slot of a tensor, or nullptr.
Slot* slot_of(const Tensor& tensor) noexcept;
/// The slot of a tensor, made where it has none.
Slot& ensure_slot(const Tensor& tensor);

class Node {
 public:
  using Backward = std::function<Gradients(const Gradients& output_gradients, Needs)>;

  /// Where the gradient of an input goes: to the op that made it, or to the leaf itself.
  struct Edge {
    std::shared_ptr<Node> node;
    std::size_t output = 0;
    std::shared_ptr<AutogradSlot> leaf;
    Shape shape;
  };

  Node(const char* op, std::size_t output_count, const std::vector<Tensor>& inputs, Backward backward);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const char* op;
  const std::size_t output_count;
  const std::uint64_t sequence;  ///< Later ops have higher numbers.
  const Precision precision;     ///< Of the op, and of its gradient.
  std::vector<Edge> edges;
  std::vector<bool> needs;
  Backward backward;  ///< Empty once used and freed.
};

/// Ops are recorded, and one of the inputs wants a gradient. Undefined tensors (an absent bias) are allowed.
bool recording(const std::vector<Tensor>& inputs) noexcept;

/// Links outputs to the inputs: `backward(gradients, needs)` gives a gradient for each input from those of the outputs,
/// undefined where nothing depends on an output. Returns the linked tensors.
std::vector<Tensor> record_many(const char* op, std::vector<Tensor> outputs, const std::vector<Tensor>& inputs,
                                Node::Backward backward);

/// As record_many for one output: `backward(dy, needs)`.
template <class Backward>
Tensor record(const char* op, const Tensor& output, const std::vector<Tensor>& inputs, Backward backward) {
  return record_many(op, {output}, inputs, [backward = std::move(backward)](const Gradients& gradients, Needs needs) {
    return backward(gradients[0], needs);
  })[0];
}

/// Lets a leaf's storage be a part of an arena from now on, its gradient a part of another; values are kept.
void move_into_arena(Tensor& parameter, const Tensor& value, const Tensor& gradient_buffer);

/// Forgets a leaf's gradient: the next backward starts anew.
void clear_gradient(const Tensor& parameter) noexcept;

}  // namespace crisol::autograd
