// A network as a graph of typed values, and a walk that runs it node by node.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "crisol/tensor.h"

namespace crisol::graph {

/// One size of a value's shape: a number, a name, or neither.
struct SymbolicSize {
  std::optional<std::int64_t> size;
  std::string name;
};

/// A value while a graph runs: a tensor, or whole numbers on the host (shapes, axes and what is computed of them), or
/// nothing (an optional input that is left out).
class Datum {
 public:
  Datum() = default;
  Datum(Tensor tensor) : tensor_(std::move(tensor)) {}  // NOLINT(google-explicit-constructor): a result is a datum.
  /// Numbers of one dtype (i64, i32 or bool) on the host, outermost axis first.
  Datum(std::vector<std::int64_t> numbers, const Shape& shape, DType dtype = DType::i64)
      : numbers_(std::move(numbers)), shape_(shape), dtype_(dtype) {}

  bool defined() const noexcept { return tensor_.defined() || numbers_.has_value(); }
  bool on_host() const noexcept { return numbers_.has_value(); }
  const Shape& shape() const { return numbers_ ? shape_ : tensor_.shape(); }
  DType dtype() const { return numbers_ ? dtype_ : tensor_.dtype(); }

  /// The tensor. Numbers on the host are copied to the device.
  Tensor tensor(Device device) const;
  /// The numbers. A tensor of integers is read, which waits for the device.
  std::vector<std::int64_t> numbers() const;

 private:
  Tensor tensor_;
  std::optional<std::vector<std::int64_t>> numbers_;
  Shape shape_;
  DType dtype_ = DType::i64;
};

using Data = std::vector<Datum>;
/// Computes the outputs of a node from its inputs.
using Run = std::function<Data(const Data& inputs, Device device)>;

struct Value {
  std::string name;
  std::optional<DType> dtype;                      ///< Nothing if it is not known before the run.
  std::optional<std::vector<SymbolicSize>> shape;  ///< Nothing if even the number of axes is not known.
};

/// Inputs and outputs are positions in Graph::values, or `absent`.
struct Node {
  std::string name, op;
  std::vector<int> inputs, outputs;
  Run run;
};

constexpr int absent = -1;

/// Nodes stand behind those whose outputs they use, and each value comes from one place: an input, a constant, a weight
/// or a node.
struct Graph {
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<int> inputs, outputs;
  std::vector<int> weights;                      ///< Values that each run is given, like inputs.
  std::vector<std::pair<int, Datum>> constants;  ///< The rest of what is known before the run.
};

/// Runs a graph with values for its inputs and weights. A value is given back as soon as no further node needs it. The
/// Error of a node gets the node's name and op.
Data run(const Graph& graph, const Data& inputs, const std::vector<Tensor>& weights, Device device);

}  // namespace crisol::graph
