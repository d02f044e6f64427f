// Several rows as one program: an expression graph in order of computation.
//
//     PointwiseGraph graph;                                        // relu(a * b + 2)
//     const int a = graph.input(DType::f32), b = graph.input(DType::f32), two = graph.scalar(DType::f32);
//     graph.output(graph.apply(rows::relu, {graph.apply(rows::add, {graph.apply(rows::mul, {a, b}), two})}));
//
// An eager op is a graph of one row. Values are kept in registers of type float (f32, f16), int (i32, u8, bool) or long
// (i64), one element or a vector of them: an f16 value is rounded to f16 when it is stored, a u8 value is kept modulo
// 256.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "ops/pointwise/pointwise_row.h"

namespace crisol::ops {

class PointwiseGraph {
 public:
  /// The limits of a kernel, which PointwiseKernels checks. A graph itself may have more.
  static constexpr std::size_t max_inputs = 12, max_scalars = 12, max_outputs = 16;
  static constexpr std::size_t max_nodes = 32767;
  /// An operand of derivative() that is not there.
  static constexpr int none = -1;

  enum class Kind : std::uint8_t { input, scalar, apply, derivative, convert };
  struct Node {
    Kind kind = Kind::input;
    OperandType type{DType::f32};       ///< The type of the value.
    DType computed = DType::f32;        ///< apply: see RowTypes. Operands are converted to it already.
    const PointwiseRow* row = nullptr;  ///< apply, derivative
    std::int16_t index = 0;  ///< input, scalar: its number. derivative: the input of the row that it is taken by.
    /// apply: the row's inputs, then its scalars. derivative: dy, the inputs, y, the scalars. convert: the value.
    std::array<std::int16_t, 7> operands{none, none, none, none, none, none, none};

    friend bool operator==(const Node&, const Node&) = default;
  };

  // Each function returns the number of a node. Equal nodes are one node.

  /// The next tensor.
  int input(DType dtype, OperandKind kind = OperandKind::tensor);
  /// The next number, an argument of the kernel: a float (f32), int (i32, bool) or long (i64).
  int scalar(DType dtype);
  /// A row of its inputs, then its scalars. Refuses the same dtypes as types_of.
  int apply(const PointwiseRow& row, std::span<const int> operands);
  int apply(const PointwiseRow& row, std::initializer_list<int> operands) {
    return apply(row, std::span<const int>(operands.begin(), operands.size()));
  }
  /// The derivative of a row by its input k, times dy; k must have one. y and the inputs that it does not read may be
  /// `none`. Computed in float; gives the dtype of dy.
  int derivative(const PointwiseRow& row, std::size_t k, int dy, std::span<const int> inputs, int y,
                 std::span<const int> scalars);
  /// Floats become integers toward zero, and anything becomes bool as != 0. Returns the node itself if it has the
  /// dtype.
  int convert(int value, DType dtype);
  /// A node as it is, of operands that are there already.
  int add(const Node& node);
  /// Adds an output; its dtype is the node's.
  void output(int value);

  const std::vector<Node>& nodes() const noexcept { return nodes_; }
  const Node& operator[](int node) const noexcept { return nodes_[static_cast<std::size_t>(node)]; }
  const std::vector<int>& outputs() const noexcept { return outputs_; }
  std::size_t input_count() const noexcept { return inputs_.size(); }
  std::size_t scalar_count() const noexcept { return scalars_.size(); }
  DType input_dtype(std::size_t i) const noexcept { return (*this)[inputs_[i]].type.dtype; }
  DType scalar_dtype(std::size_t i) const noexcept { return (*this)[scalars_[i]].type.dtype; }
  DType output_dtype(std::size_t i) const noexcept { return (*this)[outputs_[i]].type.dtype; }
  /// Whether every output is an unchanged input. Then a kernel moves elements and computes nothing.
  bool only_moves() const noexcept;

  /// Equal for graphs that are the same program, within this process.
  std::string key() const;

 private:
  // An operand as a row wants it that computes in this dtype.
  int as_computed(int value, DType computed);

  std::vector<Node> nodes_;
  std::vector<int> outputs_, inputs_, scalars_;
};

}  // namespace crisol::ops
