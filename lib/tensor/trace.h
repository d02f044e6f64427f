// The trace of a function: while lib/graph/trace.h runs it, the functions that it calls note themselves as graph ops.
//
//     Tensor softmax(const Tensor& x, int axis) {
//       return call("softmax", {x}, ops::softmax(x, axis),
//                   [&](Trace& trace, const Tensor& y) { trace.note(GraphOp::softmax, {x}, y, {{"axis", axis}}); },
//                   …);
//     }
//
// If no function notes a tensor, the tensor cannot be an input of a node. The trace then throws, with the name of the
// op that made the tensor.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/thread_context.h"
#include "crisol/scalar.h"
#include "crisol/tensor.h"
#include "tensor/graph_op.h"

namespace crisol {

namespace ops {
struct PointwiseRow;
}

class Trace {
 public:
  /// A value of the trace: its index among the values of a graph.
  using Value = int;
  static constexpr Value absent = -1;
  /// A setting of a node.
  using Attribute = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>,
                                 std::vector<std::string>, const ops::PointwiseRow*>;
  using Attributes = std::map<std::string, Attribute>;

  virtual ~Trace() = default;

  /// The value of a tensor. `absent` for an undefined tensor. A tensor from before the trace becomes a constant. Throws
  /// invalid_argument for a tensor that no function noted.
  virtual Value of(const Tensor& x) = 0;
  /// Whole numbers (i64) of rank 1, such as a shape. They may depend on the size of the batch.
  virtual Value numbers(std::vector<std::int64_t> values) = 0;
  /// A constant of rank 0.
  virtual Value number(const Scalar& value, DType dtype, Device device) = 0;
  /// A node with `outputs` outputs.
  virtual std::vector<Value> node(GraphOp op, std::vector<Value> inputs, Attributes attributes, int outputs) = 0;
  /// From now on tensor `x` has this value. A tensor that already has a value keeps it.
  virtual void bind(const Tensor& x, Value value) = 0;
  /// Called before an op replaces the elements of x. Throws invalid_argument if a graph has no such step.
  virtual void writes(const char* op, const Tensor& x) = 0;
  /// Called after writes(), still before the elements of x are replaced: they become the elements of y.
  virtual void replaces(const Tensor& x, const Tensor& y) = 0;
  /// Called after the elements of x were replaced.
  virtual void wrote(const Tensor& x) = 0;
  /// Notes that `x` is a new tensor whose elements came from the host.
  virtual void bind_constant(const Tensor& x) = 0;
  /// Notes the name of the op that made the tensor. If the trace knows nothing else about the tensor, its message has
  /// this name.
  virtual void made(const char* op, const Tensor& x) = 0;
  /// Called when the host reads the elements. Throws invalid_argument if they depend on an input of the trace.
  virtual void read(const Tensor& x) = 0;

  /// A node with one output.
  Value node(GraphOp op, std::vector<Value> inputs, Attributes attributes = {}) {
    return node(op, std::move(inputs), std::move(attributes), 1)[0];
  }
  /// A node that computes y.
  void note(GraphOp op, std::initializer_list<Tensor> inputs, const Tensor& y, Attributes attributes = {}) {
    std::vector<Value> values;
    for (const Tensor& input : inputs) values.push_back(of(input));
    bind(y, node(op, std::move(values), std::move(attributes)));
  }
};

/// The trace of the calling thread, or null.
inline Trace* current_trace() noexcept { return thread_context().trace; }

/// While this object lives, functions note nothing in the thread's trace. Tensors that are made meanwhile are constants
/// of the trace.
class PauseTrace {
 public:
  PauseTrace() noexcept : trace_(current_trace()) { thread_context().trace = nullptr; }
  ~PauseTrace() { thread_context().trace = trace_; }
  PauseTrace(const PauseTrace&) = delete;
  PauseTrace& operator=(const PauseTrace&) = delete;

 private:
  Trace* trace_;
};

}  // namespace crisol
