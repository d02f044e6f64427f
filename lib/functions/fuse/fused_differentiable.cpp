// A formula and its gradient as differentiable functions.
#include "crisol/functions/reduce.h"
#include "functions/fuse/fused_op.h"
#include "functions/gradients.h"
#include "functions/pointwise/derivative.h"
#include "functions/pointwise/pointwise.h"

namespace crisol::detail {

namespace {

using ops::PointwiseGraph;
using Node = PointwiseGraph::Node;

/// How conditions are computed: by the fused kernel, or by functions like all other nodes. Conditions have no gradient.
enum class Conditions : std::uint8_t { fused, functions };

/// The values of a graph's nodes, each a tensor or a number.
class Evaluation {
 public:
  Evaluation(const char* op, const FusedGraph& fused, const FusedValues& values, Conditions conditions)
      : op_(op), fused_(fused), values_(values), conditions_(conditions) {
    const std::vector<Node>& nodes = fused.graph.nodes();
    std::vector<bool> needed(nodes.size());
    for (const int output : fused.outputs) needed[static_cast<std::size_t>(output)] = true;
    for (std::size_t i = nodes.size(); i-- > 0;) {
      if (!needed[i] || is_condition(nodes[i])) continue;
      for (const int operand : nodes[i].operands)
        if (operand != PointwiseGraph::none) needed[static_cast<std::size_t>(operand)] = true;
    }
    all_.resize(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (needed[i]) all_[i] = is_condition(nodes[i]) ? Value{condition(static_cast<int>(i))} : value_of(nodes[i]);
  }

  /// The value of a node over the joint shape.
  Tensor tensor(int node) const {
    const Value& value = at(node);
    const Tensor tensor = value.tensor.defined() ? value.tensor : scalar_tensor(value.number);
    return tensor.shape() == values_.shape ? tensor : tensor.expand(values_.shape);
  }

 private:
  struct Value {
    Tensor tensor;
    Scalar number = 0;

    Operand operand() const noexcept { return tensor.defined() ? Operand(tensor) : Operand(number); }
  };

  bool is_condition(const Node& node) const {
    return conditions_ == Conditions::fused && node.kind == PointwiseGraph::Kind::apply && node.row->is_predicate();
  }

  Tensor condition(int node) const {
    Tensor result;
    FusedKernels(fused_, {&node, 1}).run(op_, values_, {&result, 1});
    return result;
  }

  const Value& at(int node) const { return all_[static_cast<std::size_t>(node)]; }

  static Scalar converted(const Scalar& number, DType dtype) {
    if (is_floating(dtype)) return number.as_double();
    if (dtype == DType::boolean) return number.as_double() != 0;
    if (dtype == DType::u64) return static_cast<std::uint64_t>(number.as_int());
    return number.as_int();
  }

  Tensor scalar_tensor(const Scalar& number) const { return full({}, number, number.dtype(), values_.device); }

  Value value_of(const Node& node) const {
    const auto index = static_cast<std::size_t>(node.index);
    switch (node.kind) {
      case PointwiseGraph::Kind::input: return {values_.tensor(fused_.tensors[index])};
      case PointwiseGraph::Kind::scalar: return {{}, values_.scalar(fused_.scalars[index])};
      case PointwiseGraph::Kind::convert: {
        const Value& from = at(node.operands[0]);
        if (from.tensor.defined()) return {from.tensor.to(node.type.dtype)};
        return {{}, converted(from.number, node.type.dtype)};
      }
      case PointwiseGraph::Kind::apply: return {apply(node)};
      case PointwiseGraph::Kind::derivative: break;
    }
    return {derivative_of(node)};
  }

  std::vector<Scalar> scalars_of(const Node& node, std::size_t first) const {
    std::vector<Scalar> scalars;
    for (std::size_t i = 0; i < node.row->scalar_count; ++i) {
      scalars.push_back(at(node.operands[first + i]).number);
    }
    return scalars;
  }

  Tensor apply(const Node& node) const {
    std::vector<Value> inputs;
    for (std::size_t i = 0; i < node.row->input_count; ++i) inputs.push_back(at(node.operands[i]));
    // A row takes at least one tensor. The inputs have the rank of the result here, so RowRule::channel has no effect.
    if (!inputs[0].tensor.defined()) inputs[0].tensor = scalar_tensor(inputs[0].number);
    std::vector<Operand> operands;
    for (Value& input : inputs) {
      if (node.row->rule == ops::RowRule::channel && input.tensor.defined() &&
          input.tensor.dim() < values_.shape.rank())
        input.tensor = with_rank(input.tensor);
      operands.push_back(input.operand());
    }
    return autograd::pointwise(*node.row, operands, scalars_of(node, node.row->input_count)).to(node.type.dtype);
  }

  Tensor with_rank(const Tensor& x) const {
    Shape shape = Shape::filled(values_.shape.rank(), 1);
    for (int i = 0; i < x.dim(); ++i) shape[shape.rank() - x.dim() + i] = x.size(i);
    return x.reshape(shape);
  }

  // The operands are dy, the inputs, y and the scalars. An operand is left out if the derivative does not read it.
  Tensor derivative_of(const Node& node) const {
    static const Tensor undefined;
    std::vector<Operand> inputs;
    for (std::size_t i = 1; i <= node.row->input_count; ++i)
      inputs.push_back(node.operands[i] == PointwiseGraph::none ? Operand(undefined) : at(node.operands[i]).operand());
    const std::size_t y = node.row->input_count + 1;
    return autograd::derivative(*node.row, static_cast<std::size_t>(node.index), tensor(node.operands[0]), inputs,
                                node.operands[y] == PointwiseGraph::none ? undefined : tensor(node.operands[y]),
                                scalars_of(node, y + 1))
        .to(node.type.dtype);
  }

  const char* const op_;
  const FusedGraph& fused_;
  const FusedValues& values_;
  const Conditions conditions_;
  std::vector<Value> all_;
};

}  // namespace

std::vector<Tensor> FusedBackward::run_differentiable(const FusedValues& values, std::span<const Shape> shapes) const {
  const Evaluation evaluation(op_, gradient_.fused, values, Conditions::fused);
  std::vector<Tensor> all(shapes.size());
  for (std::size_t i = 0; i < gradient_.wanted.size(); ++i) {
    const std::size_t tensor = gradient_.wanted[i];
    all[tensor] = autograd::sum_to(evaluation.tensor(gradient_.fused.outputs[i]), shapes[tensor]);
  }
  return all;
}

std::vector<Tensor> FusedOp::run_as_functions(std::span<const FusedArgument> arguments) const {
  const FusedValues values = values_of(arguments);
  const Evaluation evaluation(op_, formula_.fused, values, Conditions::functions);
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < formula_.trailing.size(); ++i) {
    const Trailing& trailing = formula_.trailing[i];
    const Tensor x = evaluation.tensor(formula_.fused.outputs[i]);
    const Shape axes = axes_of(trailing);
    switch (trailing.kind) {
      case Trailing::Kind::none: results.push_back(x); break;
      case Trailing::Kind::sum: results.push_back(sum(x, axes, trailing.keepdim)); break;
      case Trailing::Kind::mean: results.push_back(mean(x, axes, trailing.keepdim)); break;
      case Trailing::Kind::max: results.push_back(max(x, axes, trailing.keepdim)); break;
      case Trailing::Kind::min: results.push_back(min(x, axes, trailing.keepdim)); break;
    }
  }
  return results;
}

}  // namespace crisol::detail
