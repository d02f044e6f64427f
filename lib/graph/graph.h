// A network as a graph of typed values, and a function that runs it node by node.
#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "crisol/fuse.h"
#include "crisol/tensor.h"
#include "tensor/graph_op.h"
#include "tensor/trace.h"

namespace crisol::ops {
struct Conv2dSizes;
}

namespace crisol::graph {

/// One size of a value's shape: a number, a name, or neither.
struct SymbolicSize {
  std::optional<std::int64_t> size;
  std::string name;
};

/// The sizes of a shape. They are all known.
std::vector<SymbolicSize> sizes_of(const Shape& shape);

/// A value while a graph runs. It is a tensor, a list of whole numbers on the host, a sequence of values, or undefined.
/// Shapes, axes and numbers computed from them are on the host. An optional input that is left out is undefined, and so
/// is an optional value without an element.
class Datum {
 public:
  Datum() = default;
  Datum(Tensor tensor) : tensor_(std::move(tensor)) {}  // NOLINT(google-explicit-constructor): a result is a datum.
  /// A tensor with one element, whose number() does not wait for the device.
  Datum(Tensor tensor, double number) : tensor_(std::move(tensor)), number_(number) {}
  /// Numbers of one dtype (i64, i32 or bool) on the host, outermost axis first.
  Datum(std::vector<std::int64_t> numbers, const Shape& shape, DType dtype = DType::i64);
  /// A sequence.
  static Datum sequence(std::vector<Datum> elements);

  bool defined() const noexcept { return tensor_.defined() || on_host() || is_sequence(); }
  bool on_host() const noexcept { return host_ != nullptr; }
  bool is_sequence() const noexcept { return elements_ != nullptr; }
  const Shape& shape() const;
  DType dtype() const;

  /// The tensor. It is undefined for an undefined value. Numbers on the host are copied to the device once, and copies
  /// of this datum share the tensor.
  Tensor tensor(Device device) const;
  /// The numbers. If they are a tensor of integers, it is read, which waits for the device.
  std::vector<std::int64_t> numbers() const;
  /// The value of the only element. If it is in a tensor, it is read, unless remember() was called.
  double number() const;
  /// Reads a small tensor of whole numbers, or a tensor with one element. Later calls of number() and numbers() then do
  /// not wait.
  void remember();
  /// The elements of a sequence.
  const std::vector<Datum>& elements() const;

 private:
  struct Host;

  const Tensor& own_tensor() const;

  // Small, because each run of a model makes vectors of data.
  Tensor tensor_;
  std::optional<double> number_;
  std::shared_ptr<Host> host_;
  std::shared_ptr<const std::vector<Datum>> elements_;
};

/// Whether numbers of this shape are kept on the host if they are known before a run, because they may be a shape.
bool may_be_shape(const Shape& shape, DType dtype);

using Data = std::vector<Datum>;

/// How a node computes its outputs from its inputs.
class Run {
 public:
  using Function = std::function<Data(const Data& inputs, Device device)>;
  /// The output of an op that computes each element by itself. Inputs broadcast. The Expr of an input that is left out
  /// is an arbitrary number.
  using Formula = std::function<Expr(std::span<const Expr> inputs)>;

  Run() = default;
  /// Takes any function with the signature of a run.
  template <class F, class = std::enable_if_t<std::is_invocable_r_v<Data, const F&, const Data&, Device>>>
  Run(F function) : function_(std::move(function)) {}  // NOLINT(google-explicit-constructor): most runs are functions.
  template <class F>
  Run(F function, Formula formula_of_elements) : Run(std::move(function)) {
    formula = std::move(formula_of_elements);
  }

  Data operator()(const Data& inputs, Device device) const { return function_(inputs, device); }
  explicit operator bool() const noexcept { return function_ != nullptr; }

  // Other forms of the function, which passes may use. They are empty if an op does not have them.
  Formula formula;
  /// The output of the op, followed by an epilogue.
  std::function<Tensor(const Data& inputs, Device device, const Epilogue& epilogue)> with_epilogue;
  /// The output of an op of whole numbers, converted to f32. It is multiplied by the product of two factors of f32, if
  /// there are two: one number, and one number or a vector for the last axis. An epilogue follows, which may be null.
  std::function<Tensor(const Data& inputs, Device device, const std::vector<Tensor>& factors, const Epilogue* epilogue)>
      in_f32;
  /// The outputs of quantisation, with numbers minus their zero point in i16, and without the zero point.
  Function centred;
  /// Whether input 0 may be such numbers, if the zero point (input 2) is left out.
  bool takes_centred = false;
  std::shared_ptr<const ops::Conv2dSizes> convolution;  ///< The sizes of a convolution in blocks.
  bool is_random = false;                               ///< Whether each run gives other outputs for the same inputs.

 private:
  Function function_;
};

/// A setting of a node.
using Attribute = Trace::Attribute;

/// Runs one of a node's bodies, by its position, with values for its own inputs.
using RunBody = std::function<Data(std::size_t body, Data inputs)>;
/// Computes the outputs of a node with bodies from its own inputs.
using Control = std::function<Data(const Data& inputs, const RunBody& run_body, Device device)>;

/// A list of texts that values share.
using Texts = std::shared_ptr<const std::vector<std::string>>;

/// A tensor, or a sequence of tensors. Either may be optional. The dtype and shape of a sequence describe one element.
struct Value {
  std::string name;
  std::optional<DType> dtype = {};                      ///< Empty if it is not known before the run.
  std::optional<std::vector<SymbolicSize>> shape = {};  ///< Empty if not even the number of axes is known.
  bool is_sequence = false;
  bool is_optional = false;
  /// Set for a value of text: its numbers are positions in this list. Also set for floats that are a list of maps: each
  /// row is a map, and this list has the keys of the columns.
  Texts texts = {};
  /// Set for numbers of an element type of ONNX that the library does not have: the type's number in files. `dtype` has
  /// all numbers of that type.
  int small = 0;
};

/// The id of a node's op.
using Op = GraphOp;

inline bool is_one_of(Op op, std::initializer_list<Op> ops) {
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

struct Graph;

/// Inputs and outputs are positions in Graph::values, or `absent`.
///
/// A node may have bodies: graphs that it runs, such as the branches of a condition. It then has `control` instead of
/// `run`. Its last `captures` inputs are values of the surrounding graph that bodies use. Every body has an input for
/// each of these values, after its own inputs and in the same order. Bodies have no weights: they capture the weights
/// of the whole graph.
struct Node {
  std::string name;
  Op op = Op::other;
  std::string other_op;  ///< The name of an op without an id.
  std::map<std::string, Attribute> attributes;
  std::vector<int> inputs, outputs;
  Run run;
  Control control = {};
  std::vector<Graph> bodies;
  std::size_t captures = 0;
  /// Whether the run also does the work of other nodes, or has numbers in place of inputs. The inputs are then not
  /// those of the op.
  bool is_joined = false;
  /// The number under which kernels note wrong indices of the node (ops::fault_number): that of the function which the
  /// user called, or of the file's op.
  std::int32_t fault = 0;

  /// The op as the library names it, or as the file does if the op has no id.
  std::string_view op_name() const { return op == Op::other ? other_op : name_of(op); }
};

constexpr int absent = -1;

/// A node comes after the nodes whose outputs it uses. Each value comes from one source: an input, a constant, a weight
/// or a node.
struct Graph {
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<int> inputs, outputs;
  std::vector<int> weights;                      ///< Values that each run gets, like inputs.
  std::vector<std::pair<int, Datum>> constants;  ///< Other values that are known before the run.
  /// Tensors that a run updates in place. The last inputs are their elements, and the last outputs the new elements.
  std::vector<Tensor> states;
  /// Gives the words that begin errors of a node. Null in a traced graph, whose functions name themselves as the user
  /// knows them.
  std::string (*names_in_errors)(const Node& node) = nullptr;
};

/// Whether each run of the node gives other outputs. This is also true if a node in its bodies does.
bool is_random(const Node& node);

/// Runs a graph with values for its inputs and weights, and for constants that have another value in this run. Each
/// value is released as soon as no other node needs it.
Data run(const Graph& graph, const Data& inputs, const std::vector<Tensor>& weights, Device device,
         const std::vector<std::pair<int, Datum>>& replaced = {});

}  // namespace crisol::graph
