// Several rows as one program: an expression graph whose nodes are in the order of computation.
//
//     PointwiseGraph graph;                                        // relu(a * b + 2)
//     const int a = graph.input(DType::f32), b = graph.input(DType::f32), two = graph.scalar(DType::f32);
//     graph.output(graph.apply(rows::relu, {graph.apply(rows::add, {graph.apply(rows::mul, {a, b}), two})}));
//
// An eager op is a graph of one row. Values are in registers of type float (f32, f16, bf16), double (f64), long (i64,
// u32) or int (shorter whole numbers and bool), or vectors of these. A value of f16 or bf16 is rounded when it is
// stored. A whole number that is shorter than its register always has the bits of its type.
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
  /// Stands for a missing operand of derivative().
  static constexpr int none = -1;

  enum class Kind : std::uint8_t { input, scalar, apply, derivative, convert };
  struct Node {
    Kind kind = Kind::input;
    OperandType type{DType::f32};       ///< The type of the value.
    DType computed = DType::f32;        ///< For apply: see RowTypes. For derivative: f32 or f64. The operands have been
                                        ///< converted to it.
    const PointwiseRow* row = nullptr;  ///< apply, derivative
    std::int16_t index = 0;  ///< For input and scalar: its number. For derivative: the row's input that the derivative
                             /// is with respect to.
    /// For apply: the row's inputs, then its scalars. For derivative: dy, the inputs, y, the scalars. For convert: the
    /// value.
    std::array<std::int16_t, 7> operands{none, none, none, none, none, none, none};

    friend bool operator==(const Node&, const Node&) = default;
  };

  // Each function returns the index of a node. Equal nodes are stored once.

  /// Adds the next tensor.
  int input(DType dtype, OperandKind kind = OperandKind::tensor);
  /// Adds the next number. It is an argument of the kernel: a float (f32), double (f64), int or long.
  int scalar(DType dtype);
  /// Applies a row to its inputs and then its scalars. Refuses the same dtypes as types_of.
  int apply(const PointwiseRow& row, std::span<const int> operands);
  int apply(const PointwiseRow& row, std::initializer_list<int> operands) {
    return apply(row, std::span<const int>(operands.begin(), operands.size()));
  }
  /// dy times the derivative of a row with respect to its input k, which must have one. y and inputs may be `none` if
  /// the derivative does not read them. It is computed in float, or in double if dy is f64, and has the dtype of dy.
  int derivative(const PointwiseRow& row, std::size_t k, int dy, std::span<const int> inputs, int y,
                 std::span<const int> scalars);
  /// Converts a value. Floats are rounded toward zero to integers, and a bool is value != 0. Returns the node itself if
  /// it has the dtype.
  int convert(int value, DType dtype);
  /// Adds a node as it is. Its operands must be in the graph.
  int add(const Node& node);
  /// Adds an output, with the node's dtype.
  void output(int value);

  const std::vector<Node>& nodes() const noexcept { return nodes_; }
  const Node& operator[](int node) const noexcept { return nodes_[static_cast<std::size_t>(node)]; }
  const std::vector<int>& outputs() const noexcept { return outputs_; }
  std::size_t input_count() const noexcept { return inputs_.size(); }
  std::size_t scalar_count() const noexcept { return scalars_.size(); }
  DType input_dtype(std::size_t i) const noexcept { return (*this)[inputs_[i]].type.dtype; }
  /// The dtype of a number as an argument. In a graph with f64, f32 numbers are f64, so that they keep their digits.
  DType scalar_dtype(std::size_t i) const noexcept {
    const DType dtype = (*this)[scalars_[i]].type.dtype;
    return has_f64_ && dtype == DType::f32 ? DType::f64 : dtype;
  }
  DType output_dtype(std::size_t i) const noexcept { return (*this)[outputs_[i]].type.dtype; }
  /// Whether every output is an unchanged input. Then a kernel moves elements and computes nothing.
  bool only_moves() const noexcept;

  /// A key that is equal for graphs of the same program, within this process.
  std::string key() const;

 private:
  // Converts an operand for a row that computes in this dtype.
  int as_computed(int value, DType computed);

  std::vector<Node> nodes_;
  std::vector<int> outputs_, inputs_, scalars_;
  bool has_f64_ = false;
};

}  // namespace crisol::ops
