#include "ops/pointwise/pointwise_graph.h"

#include <algorithm>

#include "base/text.h"
#include "crisol/dtype_table.h"

namespace crisol::ops {

int PointwiseGraph::add(const Node& node) {
  const auto known = std::find(nodes_.begin(), nodes_.end(), node);
  if (known != nodes_.end()) return static_cast<int>(known - nodes_.begin());
  require(nodes_.size() < max_nodes, "pointwise", "an expression can have ", max_nodes, " values, it has more");
  nodes_.push_back(node);
  has_f64_ = has_f64_ || node.type.dtype == DType::f64;
  return static_cast<int>(nodes_.size()) - 1;
}

int PointwiseGraph::input(DType dtype, OperandKind kind) {
  Node node;
  node.type = {dtype, kind};
  node.index = static_cast<std::int16_t>(inputs_.size());
  inputs_.push_back(add(node));
  return inputs_.back();
}

int PointwiseGraph::scalar(DType dtype) {
  Node node;
  node.kind = Kind::scalar;
  node.type = {dtype, OperandKind::number};
  node.index = static_cast<std::int16_t>(scalars_.size());
  scalars_.push_back(add(node));
  return scalars_.back();
}

int PointwiseGraph::as_computed(int value, DType computed) {
  return (*this)[value].kind == Kind::scalar && computed != DType::boolean ? value : convert(value, computed);
}

int PointwiseGraph::apply(const PointwiseRow& row, std::span<const int> operands) {
  require(operands.size() == row.input_count + row.scalar_count, row.name, "takes ", row.input_count, " inputs and ",
          row.scalar_count, " numbers, ", operands.size(), " are given");
  std::array<OperandType, PointwiseRow::max_inputs + PointwiseRow::max_scalars> types{};
  OperandKind kind = OperandKind::number;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    types[i] = (*this)[operands[i]].type;
    kind = std::max(kind, types[i].kind);
  }
  const RowTypes row_types = types_of(row, {types.data(), operands.size()});
  Node node;
  node.kind = Kind::apply;
  node.type = {row_types.result, kind};
  node.computed = row_types.computed;
  node.row = &row;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    // A condition must have the same element width as the vectors between which it selects.
    const int operand = row.is_condition(i) ? convert(operands[i], DType::boolean) : operands[i];
    const bool stays = row.is_condition(i) && size_of(value_type(row_types.computed)) == size_of(DType::i32);
    node.operands[i] = static_cast<std::int16_t>(stays ? operand : as_computed(operand, row_types.computed));
  }
  return add(node);
}

int PointwiseGraph::derivative(const PointwiseRow& row, std::size_t k, int dy, std::span<const int> inputs, int y,
                               std::span<const int> scalars) {
  require(row.has_derivative(k), row.name, "has no derivative by input ", k);
  Node node;
  node.kind = Kind::derivative;
  node.type = (*this)[dy].type;
  node.computed = value_type(node.type.dtype);
  node.row = &row;
  node.index = static_cast<std::int16_t>(k);
  std::size_t at = 0;
  const auto put = [&](int value, bool read, bool is_condition) {
    if (value != none && read) {
      const int operand = is_condition ? convert(value, DType::boolean) : value;
      const bool stays = is_condition && node.computed == DType::f32;
      node.operands[at] = static_cast<std::int16_t>(stays ? operand : as_computed(operand, node.computed));
    }
    ++at;
  };
  put(dy, true, false);
  for (std::size_t i = 0; i < row.input_count; ++i)
    put(inputs[i], row.derivative_reads(k, row.inputs[i]), row.is_condition(i));
  put(y, row.derivative_reads(k, "y"), false);
  for (std::size_t i = 0; i < row.scalar_count; ++i) put(scalars[i], true, false);
  return add(node);
}

int PointwiseGraph::convert(int value, DType dtype) {
  if ((*this)[value].type.dtype == dtype) return value;
  Node node;
  node.kind = Kind::convert;
  node.type = {dtype, (*this)[value].type.kind};
  node.operands[0] = static_cast<std::int16_t>(value);
  return add(node);
}

void PointwiseGraph::output(int value) { outputs_.push_back(value); }

bool PointwiseGraph::only_moves() const noexcept {
  return std::all_of(outputs_.begin(), outputs_.end(),
                     [this](int output) { return (*this)[output].kind == Kind::input; });
}

std::string PointwiseGraph::key() const {
  std::string text;
  const auto put = [&](const auto& value) { text.append(reinterpret_cast<const char*>(&value), sizeof value); };
  for (const Node& node : nodes_) {
    put(node.kind);
    put(node.type.dtype);
    put(node.computed);
    put(node.row);
    put(node.index);
    put(node.operands);
  }
  for (const int output : outputs_) put(output);
  return text;
}

}  // namespace crisol::ops
