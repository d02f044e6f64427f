// A network as a graph of typed values, and a walk that runs it node by node.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "crisol/fuse.h"
#include "crisol/tensor.h"
#include "tensor/recorder.h"

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
  Datum(std::vector<std::int64_t> numbers, const Shape& shape, DType dtype = DType::i64);

  bool defined() const noexcept { return tensor_.defined() || numbers_.has_value(); }
  bool on_host() const noexcept { return numbers_.has_value(); }
  const Shape& shape() const { return numbers_ ? shape_ : tensor_.shape(); }
  DType dtype() const { return numbers_ ? dtype_ : tensor_.dtype(); }

  /// The tensor. Numbers on the host are copied to the device once; copies of this datum share the tensor.
  Tensor tensor(Device device) const;
  /// The numbers. A tensor of integers is read, which waits for the device.
  std::vector<std::int64_t> numbers() const;
  /// The value of the only element. A tensor is read, unless its number is remembered.
  double number() const;
  /// Reads the value of a tensor with one element, so that number() does not wait any more.
  void remember_number();

 private:
  struct Uploaded;

  Tensor tensor_;
  std::optional<double> number_;
  std::optional<std::vector<std::int64_t>> numbers_;
  Shape shape_;
  DType dtype_ = DType::i64;
  std::shared_ptr<Uploaded> uploaded_;
};

using Data = std::vector<Datum>;

/// How a node computes its outputs from its inputs.
class Run {
 public:
  using Function = std::function<Data(const Data& inputs, Device device)>;
  /// The output of an op that computes each element by itself. Inputs broadcast. An input that is left out is any
  /// number.
  using Formula = std::function<Expr(std::span<const Expr> inputs)>;
  /// The output after an epilogue.
  using WithEpilogue = std::function<Tensor(const Data& inputs, Device device, const Epilogue& epilogue)>;

  Run() = default;
  /// Takes any function of that form.
  template <class F, class = std::enable_if_t<std::is_invocable_r_v<Data, const F&, const Data&, Device>>>
  Run(F function) : function_(std::move(function)) {}  // NOLINT(google-explicit-constructor): most runs are functions.
  template <class F>
  Run(F function, Formula formula_of_elements) : Run(std::move(function)) {
    formula = std::move(formula_of_elements);
  }

  Data operator()(const Data& inputs, Device device) const { return function_(inputs, device); }

  // What passes may use instead. Empty for ops that do not have it.
  Formula formula;
  WithEpilogue with_epilogue;
  bool is_random = false;  ///< Each run gives other outputs for the same inputs.

 private:
  Function function_;
};

/// A setting of a node.
using Attribute = Recorder::Attribute;

struct Value {
  std::string name;
  std::optional<DType> dtype;                      ///< Nothing if it is not known before the run.
  std::optional<std::vector<SymbolicSize>> shape;  ///< Nothing if even the number of axes is not known.
};

/// Inputs and outputs are positions in Graph::values, or `absent`. Ops and attributes are those of ONNX.
struct Node {
  std::string name, op;
  std::map<std::string, Attribute> attributes;
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

/// The place of the last node that needs each value; nodes.size() for outputs of the graph.
std::vector<std::size_t> last_uses(const Graph& graph);

/// Runs one node. An Error gets the node's name and op.
Data run_node(const Node& node, const Data& inputs, Device device);

/// Runs a graph with values for its inputs and weights. A value is given back as soon as no further node needs it. The
/// Error of a node gets the node's name and op.
Data run(const Graph& graph, const Data& inputs, const std::vector<Tensor>& weights, Device device);

}  // namespace crisol::graph
