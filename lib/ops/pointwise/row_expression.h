// Expressions of the derivatives in crisol/ops/pointwise.def, as data.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace crisol::ops {

// Operators in C++, in kernels, how strongly they bind, and their rows.
#define CRISOL_OPERATORS(OPERATOR)  \
  OPERATOR(||, "|", 1, logical_or)  \
  OPERATOR(&&, "&", 2, logical_and) \
  OPERATOR(==, "==", 3, eq)         \
  OPERATOR(!=, "!=", 3, ne)         \
  OPERATOR(<, "<", 4, lt)           \
  OPERATOR(>, ">", 4, gt)           \
  OPERATOR(<=, "<=", 4, le)         \
  OPERATOR(>=, ">=", 4, ge)         \
  OPERATOR(+, "+", 5, add) OPERATOR(-, "-", 5, sub) OPERATOR(*, "*", 6, mul) OPERATOR(/, "/", 6, div)
// Functions in C++ and in kernels.
#define CRISOL_FUNCTIONS(FUNCTION)        \
  FUNCTION(abs, "fabs")                   \
  FUNCTION(cos, "cos_")                   \
  FUNCTION(cosh, "cosh")                  \
  FUNCTION(digamma, "digamma_")           \
  FUNCTION(exp, "exp_")                   \
  FUNCTION(floor_divide, "floor_divide_") \
  FUNCTION(fma, "fma")                    \
  FUNCTION(gelu_slope, "gelu_slope_")     \
  FUNCTION(hypot, "hypot")                \
  FUNCTION(log, "log_")                   \
  FUNCTION(pow, "pow")                    \
  FUNCTION(rsqrt, "rsqrt")                \
  FUNCTION(sigmoid, "sigmoid_")           \
  FUNCTION(sin, "sin_")                   \
  FUNCTION(sinh, "sinh")                  \
  FUNCTION(tanh_softplus, "tanh_softplus_") FUNCTION(trigamma, "trigamma_") FUNCTION(trunc, "trunc")

/// A part of an expression. The parts of its operands follow it, one operand after the other.
struct ExpressionPart {
  enum class Kind : std::uint8_t {
    name,       ///< dy, y, an input or a scalar.
    real,       ///< `number`.
    whole,      ///< `number`, for a comparison with a condition, or as the derivative 0.
    operation,  ///< An operator between two operands, or the minus before one.
    call,       ///< A function.
    choice,     ///< The second operand where the first one holds, else the third one.
  };

  Kind kind = Kind::name;
  std::uint8_t operands = 0, level = 0;  ///< The level tells how strongly an operator binds.
  const char* name = "";                 ///< In kernels.
  double number = 0;
};

/// The parts of an expression. (The compiler refuses an empty std::span in a constant row.)
struct ExpressionParts {
  const ExpressionPart* first = nullptr;
  std::size_t count = 0;

  constexpr const ExpressionPart* begin() const noexcept { return first; }
  constexpr const ExpressionPart* end() const noexcept { return first + count; }
};

/// A value with which an expression of C++ writes itself down. Only the compiler computes with such values.
class RowExpression {
 public:
  using Kind = ExpressionPart::Kind;
  using Operands = std::initializer_list<RowExpression>;

  /// No expression.
  constexpr RowExpression() = default;
  constexpr explicit RowExpression(const char* name) : RowExpression({Kind::name, 0, 0, name, 0}, {}) {}
  constexpr RowExpression(double number) : RowExpression({Kind::real, 0, 0, "", number}, {}) {}
  constexpr RowExpression(int number) : RowExpression({Kind::whole, 0, 0, "", static_cast<double>(number)}, {}) {}

  constexpr ExpressionParts parts() const { return {parts_.data(), size_}; }

#define OPERATOR(sign, name, level, row)                                                         \
  friend constexpr RowExpression operator sign(const RowExpression& a, const RowExpression& b) { \
    return {{Kind::operation, 2, level, name, 0}, {a, b}};                                       \
  }
#define FUNCTION(function, name)                                                         \
  template <std::convertible_to<RowExpression>... More>                                  \
  friend constexpr RowExpression function(const RowExpression& x, const More&... more) { \
    return {{Kind::call, 1 + sizeof...(More), 0, name, 0}, {x, RowExpression(more)...}}; \
  }
  CRISOL_OPERATORS(OPERATOR)
  CRISOL_FUNCTIONS(FUNCTION)
#undef OPERATOR
#undef FUNCTION
  friend constexpr RowExpression operator-(const RowExpression& a) { return {{Kind::operation, 1, 7, "-", 0}, {a}}; }
  friend constexpr RowExpression choose(const RowExpression& holds, const RowExpression& a, const RowExpression& b) {
    return {{Kind::choice, 3, 0, "?", 0}, {holds, a, b}};
  }

 private:
  constexpr RowExpression(const ExpressionPart& part, Operands operands) {
    parts_[size_++] = part;
    for (const RowExpression& operand : operands)
      for (const ExpressionPart& one : operand.parts()) parts_[size_++] = one;
  }

  std::array<ExpressionPart, 64> parts_{};
  std::size_t size_ = 0;
};

/// The parts of the expression that a function without captures gives, without unused space.
template <class Make>
struct PartsOf {
  static constexpr RowExpression all = Make{}();
  static constexpr auto stored = [] {
    std::array<ExpressionPart, all.parts().count> parts{};
    std::copy(all.parts().begin(), all.parts().end(), parts.begin());
    return parts;
  }();
};
template <class Make>
constexpr ExpressionParts parts_of(Make) {
  return {PartsOf<Make>::stored.data(), PartsOf<Make>::stored.size()};
}

/// Whether an expression reads a name.
constexpr bool reads(ExpressionParts parts, std::string_view name) {
  return std::any_of(parts.begin(), parts.end(), [name](const ExpressionPart& part) {
    return part.kind == ExpressionPart::Kind::name && part.name == name;
  });
}

/// The expression in OpenCL C.
std::string text_of(ExpressionParts parts);

}  // namespace crisol::ops
