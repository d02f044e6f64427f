// A pointwise op as data: one row of crisol/ops/pointwise.def.
//
// The top of that file explains the language of a row's expressions. Host references, test values and accuracy bounds
// of the rows are in reference/elementwise.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "crisol/tensor.h"
#include "ops/pointwise/row_expression.h"

namespace crisol::ops {

/// Which dtypes a row takes, in which it computes, and which it gives. P is the dtype to which its inputs and scalars
/// are promoted.
enum class RowRule : std::uint8_t {
  any,         ///< computes in P, gives P
  number,      ///< like `any`, but refuses bool
  counted,     ///< like `any`, but bool becomes i64 first
  floating,    ///< like `number`, but whole numbers and bool become default_dtype() first
  channel,     ///< like `floating`, but a second input of rank 1 runs along axis 1 of the first input
  comparison,  ///< computes in P, gives bool
  test,        ///< computes in float, gives bool
  logical,     ///< every input becomes bool (!= 0); gives bool
  choice,      ///< the first input becomes bool (!= 0), the others are as in `any`
  fill,        ///< the second input becomes bool; computes in and gives the first input's dtype, to which the third is
               /// converted
  limits,      ///< like `number`, but only the inputs decide P; scalars are converted to P, rounded toward zero
  whole,       ///< like `number`, but only for whole numbers
};

/// A row consists of plain constants. It lives as long as the process, because programs are looked up by its address.
struct PointwiseRow {
  static constexpr std::size_t max_inputs = 3, max_scalars = 2;

  const char* name;
  RowRule rule;
  std::size_t input_count;
  const char* inputs[max_inputs];  ///< Names of the inputs. Each input may be a tensor or a number.
  std::size_t scalar_count;
  const char* scalars[max_scalars];  ///< Names of the scalars: numbers that are arguments of the kernel.
  const char* forward;               ///< The value, as an expression of inputs and scalars.
  const char* integer;               ///< The value for integers. nullptr if it is `forward`.
  /// dy times the derivative with respect to each input, or no parts if there is none. The expression may use dy,
  /// inputs, y (the value) and scalars.
  std::array<ExpressionParts, max_inputs> derivatives;
  const char* formula;  ///< For the docs.
  /// The results of derivative_operands(), computed when the row is made.
  std::array<std::uint8_t, max_inputs> operands_read{find_operands(0), find_operands(1), find_operands(2)};

  bool has_derivative(std::size_t k) const noexcept { return k < input_count && derivatives[k].count != 0; }
  /// Whether the derivative with respect to input k passes dy on, or is zero everywhere. Then no kernel runs.
  bool passes_on(std::size_t k) const noexcept {
    return derivatives[k].count == 1 && std::string_view(derivatives[k].first->name) == "dy";
  }
  bool is_zero(std::size_t k) const noexcept {
    return derivatives[k].count == 1 && derivatives[k].first->kind == ExpressionPart::Kind::whole;
  }
  /// Whether the derivative with respect to input k reads a name: "dy", "y", or one of `inputs` or `scalars`.
  constexpr bool derivative_reads(std::size_t k, const char* operand) const { return reads(derivatives[k], operand); }
  /// What the derivative with respect to input k reads, as bits: 1 << i for input i, reads_y, reads_scalar << i for
  /// scalar i. A value need not be saved if no needed derivative reads it.
  constexpr unsigned derivative_operands(std::size_t k) const noexcept { return operands_read[k]; }
  static constexpr unsigned reads_y = 8, reads_scalar = 16;
  /// Whether the row gives bool, and so has no gradient.
  bool is_predicate() const noexcept {
    return rule == RowRule::comparison || rule == RowRule::test || rule == RowRule::logical;
  }
  /// Whether input i is a condition: it is converted to bool (!= 0), and takes no part in the promotion.
  bool is_condition(std::size_t i) const noexcept {
    return (rule == RowRule::choice && i == 0) || (rule == RowRule::fill && i == 1);
  }

 private:
  constexpr std::uint8_t find_operands(std::size_t k) const {
    unsigned found = derivative_reads(k, "y") ? reads_y : 0;
    for (std::size_t i = 0; i < input_count; ++i)
      if (derivative_reads(k, inputs[i])) found |= 1u << i;
    for (std::size_t i = 0; i < scalar_count; ++i)
      if (derivative_reads(k, scalars[i])) found |= reads_scalar << i;
    return static_cast<std::uint8_t>(found);
  }
};

namespace rows {
// rows::add, rows::gelu, …
#define CRISOL_UNARY(name, ...) extern const PointwiseRow name;
#define CRISOL_BINARY(name, ...) extern const PointwiseRow name;
#define CRISOL_TERNARY(name, ...) extern const PointwiseRow name;
#include "crisol/ops/pointwise.def"
}  // namespace rows

/// Whether a row with this number as its second input is the square root. As in PyTorch, the power 0.5 is: so -0 keeps
/// its sign, and has the gradient minus infinity.
inline bool is_square_root(const PointwiseRow& row, const Scalar& second) noexcept {
  return &row == &rows::pow && second.as_double() == 0.5;
}

/// All rows of the table, in its order.
std::span<const PointwiseRow* const> all_rows();

/// How an operand takes part in promotion. An earlier kind in this list counts only if its category (bool < whole <
/// floating) is higher: so a number does not turn an i32 tensor into i64.
enum class OperandKind : std::uint8_t { number, zero_dim_tensor, tensor };

struct OperandType {
  DType dtype;
  OperandKind kind = OperandKind::tensor;

  friend bool operator==(const OperandType&, const OperandType&) = default;
};

/// The type of a tensor as an operand.
inline OperandType type_of(const Tensor& x) {
  return {x.dtype(), x.dim() == 0 ? OperandKind::zero_dim_tensor : OperandKind::tensor};
}
/// The type of a tensor or a number.
inline OperandType type_of(const Operand& operand) {
  const Tensor* x = operand.tensor();
  return x != nullptr ? type_of(*x) : OperandType{operand.number().dtype(), OperandKind::number};
}

/// PyTorch's result_type. There must be at least one operand.
OperandType promoted(std::span<const OperandType> operands);

struct RowTypes {
  DType computed;  ///< f32, f16 (computed as float), an integer type or bool.
  DType result;
};

/// Computes the types, and throws for dtypes that the row's rule refuses. The message names the row and the dtypes.
/// `operands` are the inputs, then the scalars.
RowTypes types_of(const PointwiseRow& row, std::span<const OperandType> operands);

}  // namespace crisol::ops
