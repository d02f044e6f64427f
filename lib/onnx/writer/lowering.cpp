#include "onnx/writer/lowering.h"

#include <algorithm>

#include "base/element_number.h"
#include "base/text.h"
#include "graph/ops/elements.h"
#include "onnx/ops/op_names.h"

namespace crisol::onnx {

using graph::Node;
using graph::Op;

namespace {

std::string name_of_op(const Node& node) { return std::string(onnx_name(node.op)); }

/// The same node, whose attributes have other names in ONNX.
std::vector<int> lower_names(Lowering& to, const Node& node) {
  static const std::map<std::string, std::string> names{
      {"axes", "perm"}, {"groups", "num_groups"}, {"keepdim", "keepdims"}};
  Attributes attributes;
  for (const auto& [name, value] : node.attributes) {
    const auto other = names.find(name);
    attributes.emplace(other == names.end() ? name : other->second, value);
  }
  return {to.node(name_of_op(node), node.inputs, attributes)};
}

/// The axes are an input in ONNX.
std::vector<int> lower_reduction(Lowering& to, const Node& node) {
  std::vector<int> inputs{node.inputs[0]};
  if (const auto& axes = std::get<std::vector<std::int64_t>>(node.attributes.at("axes")); !axes.empty())
    inputs.push_back(to.numbers(axes));
  return {to.node(name_of_op(node), inputs, {{"keepdims", node.attributes.at("keepdim")}})};
}

/// Without allowzero, ONNX would replace a size of 0 by the input's size.
std::vector<int> lower_reshape(Lowering& to, const Node& node) {
  return {to.node("Reshape", node.inputs, to.is_empty(node.outputs[0]) ? Attributes{{"allowzero", 1}} : Attributes())};
}

/// ScatterElements takes a position for each element of a slice.
std::vector<int> lower_index_copy(Lowering& to, const Node& node) {
  const int index = node.inputs[1], src = node.inputs[2];
  std::vector<std::int64_t> line(static_cast<std::size_t>(to.rank(src)), 1), sizes;
  line[static_cast<std::size_t>(std::get<std::int64_t>(node.attributes.at("axis")))] = to.shape(index).numel();
  for (const std::int64_t size : to.shape(src)) sizes.push_back(size);
  const DType dtype = to.dtype(index);
  const int positions = to.cast(index, dtype, holds_counts(dtype) ? dtype : DType::i64);
  const int places = to.node("Expand", {to.node("Reshape", {positions, to.numbers(line)}), to.numbers(sizes)});
  return {to.node("ScatterElements", {node.inputs[0], places, src}, node.attributes)};
}

std::vector<int> lower_cast(Lowering& to, const Node& node) {
  const auto dtype = static_cast<DType>(std::get<std::int64_t>(node.attributes.at("dtype")));
  return {to.node("Cast", {node.inputs[0]}, {{"to", onnx_element_number(dtype)}})};
}

/// Gemm multiplies matrices only.
std::vector<int> lower_linear(Lowering& to, const Node& node) {
  const int x = node.inputs[0];
  if (to.rank(x) == 2 && node.inputs.size() > 2) return {to.node("Gemm", node.inputs, {{"transB", 1}})};
  const int turned = to.node("Transpose", {node.inputs[1]}, {{"perm", std::vector<std::int64_t>{1, 0}}});
  const int product = to.node("MatMul", {x, turned});
  return {node.inputs.size() > 2 ? to.node("Add", {product, node.inputs[2]}) : product};
}

Lower rule_of(const Node& node) {
  static const std::map<Op, Lower> rules{{Op::adaptive_avg_pool, lower_adaptive_avg_pool},
                                         {Op::argmax, lower_names},
                                         {Op::argmin, lower_names},
                                         {Op::attention, lower_attention},
                                         {Op::avg_pool, lower_pool},
                                         {Op::cast, lower_cast},
                                         {Op::conv, lower_conv},
                                         {Op::conv_transpose, lower_conv},
                                         {Op::enlarge, lower_enlarge},
                                         {Op::grid_sample, lower_grid_sample},
                                         {Op::group_norm, lower_names},
                                         {Op::index_copy, lower_index_copy},
                                         {Op::interpolate, lower_interpolate},
                                         {Op::l1_norm, lower_reduction},
                                         {Op::l2_norm, lower_reduction},
                                         {Op::linear, lower_linear},
                                         {Op::logsumexp, lower_reduction},
                                         {Op::max, lower_reduction},
                                         {Op::max_pool, lower_pool},
                                         {Op::mean, lower_reduction},
                                         {Op::min, lower_reduction},
                                         {Op::permute, lower_names},
                                         {Op::prod, lower_reduction},
                                         {Op::resample, lower_resample},
                                         {Op::reshape, lower_reshape},
                                         {Op::rnn, lower_rnn},
                                         {Op::sum, lower_reduction}};
  if (graph::row_of(node) != nullptr) return lower_elements;
  const auto rule = rules.find(node.op);
  return rule == rules.end() ? nullptr : rule->second;
}

}  // namespace

void Lowering::apply() {
  std::vector<Node> given;
  given.swap(graph_.nodes);
  for (Node& node : given)
    if (rule_of(node) != nullptr)
      replace(node);
    else
      nodes_.push_back(std::move(node));
  graph_.nodes = std::move(nodes_);
}

void Lowering::replace(const Node& node) {
  const std::size_t first = nodes_.size();
  const std::vector<int> made = rule_of(node)(*this, node);
  for (std::size_t k = 0; k < made.size(); ++k) {
    bool is_made = false;
    for (std::size_t i = first; i < nodes_.size(); ++i) {
      std::vector<int>& outputs = nodes_[i].outputs;
      is_made = is_made || std::count(outputs.begin(), outputs.end(), made[k]) > 0;
      std::replace(outputs.begin(), outputs.end(), made[k], node.outputs[k]);
      if (is_made) std::replace(nodes_[i].inputs.begin(), nodes_[i].inputs.end(), made[k], node.outputs[k]);
    }
    if (is_made) continue;
    this->node("Identity", {made[k]});
    nodes_.back().outputs = {node.outputs[k]};
  }
}

int Lowering::add_value(const std::string& what) {
  graph_.values.push_back({.name = concat(what, '_', graph_.values.size())});
  return static_cast<int>(graph_.values.size()) - 1;
}

std::vector<int> Lowering::nodes(const std::string& op, std::vector<int> inputs, Attributes attributes, int outputs) {
  std::vector<int> made;
  made.reserve(static_cast<std::size_t>(outputs));
  for (int i = 0; i < outputs; ++i) made.push_back(add_value(concat(op, "_output")));
  Node& node = nodes_.emplace_back();
  node.name = concat(op, '_', made[0]);
  node.op = op_of_name(op);
  node.other_op = op;
  node.attributes = std::move(attributes);
  node.inputs = std::move(inputs);
  node.outputs = made;
  return made;
}

int Lowering::numbers(std::vector<std::int64_t> values) {
  const Shape shape(static_cast<std::int64_t>(values.size()));
  const int made = add_value("numbers");
  graph_.constants.emplace_back(made, graph::Datum(std::move(values), shape));
  return made;
}

int Lowering::number(const Scalar& value, DType dtype) { return constant(full({}, value, dtype)); }

int Lowering::constant(const Tensor& tensor) {
  const int made = add_value("constant");
  graph_.constants.emplace_back(made, tensor);
  return made;
}

int Lowering::cast(int x, DType from, DType to) {
  return from == to ? x : node("Cast", {x}, {{"to", onnx_element_number(to)}});
}

}  // namespace crisol::onnx
