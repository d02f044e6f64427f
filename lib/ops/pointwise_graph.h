// Several rows as one program: an expression graph in order of computation.
//
//     PointwiseGraph graph;                                        // relu(a * b + 2)
//     const int a = graph.input(DType::f32), b = graph.input(DType::f32), two = graph.scalar(DType::i64);
//     graph.output(graph.apply(rows::relu, {graph.apply(rows::add, {graph.apply(rows::mul, {a, b}), two})}));
//
// An eager op is a graph of one row. Values are kept in registers of type float (f32, f16), int (i32, u8, bool) or long
// (i64), one element or a vector of them.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "ops/pointwise_row.h"

namespace crisol::ops {

class PointwiseGraph {
 public:
  static constexpr std::size_t max_inputs = 8, max_scalars = 8, max_outputs = 4;
  /// An operand of derivative() that is not there.
  static constexpr int none = -1;

  enum class Kind : std::uint8_t { input, scalar, apply, derivative, convert };
  struct Node {
    Kind kind;
    OperandType type;                   ///< Of the value.
    DType computed = DType::f32;        ///< apply, derivative: see RowTypes.
    const PointwiseRow* row = nullptr;  ///< apply, derivative
    int index = 0;                      ///< input, scalar: which one; derivative: by which input of the row.
    /// apply: the row's inputs, then its scalars. derivative: dy, the inputs, y, the scalars. convert: what.
    std::array<std::int16_t, 7> operands{none, none, none, none, none, none, none};

    friend bool operator==(const Node&, const Node&) = default;
  };

  // Each gives the number of the node, a known one where an equal one is there already.

  /// The next tensor.
  int input(DType dtype, OperandKind kind = OperandKind::tensor);
  /// The next number: an argument of the kernel. Its dtype is f32, i64 or bool (crisol::Scalar::dtype).
  int scalar(DType dtype);
  /// A row: its inputs, then its scalars. Throws as types_of does.
  int apply(const PointwiseRow& row, std::span<const int> operands);
  int apply(const PointwiseRow& row, std::initializer_list<int> operands) {
    return apply(row, std::span<const int>(operands.begin(), operands.size()));
  }
  /// The derivative of a row by its input k, times dy; k must have one. y and the inputs that it does not read may be
  /// `none`. Computed in float, gives the dtype of dy.
  int derivative(const PointwiseRow& row, std::size_t k, int dy, std::span<const int> inputs, int y,
                 std::span<const int> scalars);
  /// Floats to integers toward zero, anything to bool as != 0. The same number where the dtype is that already.
  int convert(int value, DType dtype);
  /// Adds an output; its dtype is the node's.
  void output(int value);

  const std::vector<Node>& nodes() const noexcept { return nodes_; }
  const Node& operator[](int node) const noexcept { return nodes_[static_cast<std::size_t>(node)]; }
  const std::vector<int>& outputs() const noexcept { return outputs_; }
  std::size_t input_count() const noexcept { return input_count_; }
  std::size_t scalar_count() const noexcept { return scalar_count_; }
  /// dtype of each input, scalar, output.
  DType input_dtype(std::size_t i) const;
  DType scalar_dtype(std::size_t i) const;
  DType output_dtype(std::size_t i) const noexcept { return (*this)[outputs_[i]].type.dtype; }

  /// Equal for graphs that are the same program, within this process.
  std::string key() const;

 private:
  int add(const Node& node);

  std::vector<Node> nodes_;
  std::vector<int> outputs_;
  std::size_t input_count_ = 0, scalar_count_ = 0;
};

}  // namespace crisol::ops
