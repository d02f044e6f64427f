// The walk through the recorded graph in reverse.
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

#include "autograd/node.h"

namespace crisol::autograd {

/// One backward pass. backward() accumulates into the leaves. grad() captures the gradients of its inputs instead.
class Engine {
 public:
  struct Options {
    bool retain_graph = false, create_graph = false;
    bool allow_unused = true;  ///< If true, there is no error for a captured tensor that no output depends on.
  };

  Engine(const char* op, const Options& options) : op_(op), options_(options) {}

  /// Makes the gradient of `tensor` the next result of run(). It is undefined if no output depends on the tensor. If
  /// nothing is captured, the leaves get their gradients.
  void capture(const Tensor& tensor);

  /// Runs backward from the outputs. If a needed part of the graph was freed, throws before anything is changed.
  std::vector<Tensor> run(const std::vector<Tensor>& outputs, std::vector<Tensor> gradients);

 private:
  /// An op that backward has not reached yet.
  struct Waiting {
    std::shared_ptr<Node> node;  ///< Owns the node, because freeing the record of an op must not destroy the ops
                                 /// before it until they have run.
    Gradients gradients{};       ///< The sums so far, one for each output.
    bool runs = false;           ///< Whether its backward function is needed.
  };
  /// A leaf with hooks, or a captured leaf. Its parts are added up before they are used.
  struct Leaf {
    std::size_t parts = 0;  ///< The number of parts of its gradient that are still to come.
    Tensor sum;
  };
  struct Capture {
    Node* node = nullptr;  ///< The op that made the tensor,
    std::size_t output = 0;
    Slot* leaf = nullptr;  ///< or the leaf.
  };

  void collect(const std::vector<Tensor>& outputs);
  void find_needed();
  bool captures(const Node::Edge& edge) const;
  void expect(const Node::Edge& edge);
  void deliver(const Node::Edge& edge, Tensor&& gradient);
  void finish(const std::shared_ptr<AutogradSlot>& slot, Tensor&& gradient);
  void process(Node* node);
  Gradients own_gradients(Node& node, Waiting& waiting);
  bool needs(const Node::Edge& edge) const;
  Gradients run_node(Node& node, const Gradients& own);
  void check(const Node& node, const Gradients& results) const;

  const char* const op_;
  const Options options_;
  std::unordered_map<Node*, Waiting> waiting_;
  std::vector<Node*> order_;  ///< The ops, latest first.
  std::unordered_map<Slot*, Leaf> leaves_;
  std::vector<Capture> captures_;
  std::vector<Tensor> captured_;
  std::vector<bool> needed_;  ///< For each input of the op that runs: whether its gradient is used.
  std::size_t done_ = 0;      ///< The number of ops that have run.
};

}  // namespace crisol::autograd
