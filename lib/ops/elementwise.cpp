// The rows of crisol/ops/pointwise.def as raw ops, each a program of one expression.
#include "crisol/ops/elementwise.h"

#include <cmath>
#include <string_view>

#include "base/text.h"
#include "ops/pointwise_program.h"

namespace crisol::ops {

namespace {

constexpr DType f32 = DType::f32;

constexpr bool passes_dy(std::string_view derivative) { return derivative == "dy"; }

// Programs of one comparison for each dtype, with a tensor or a scalar on the right.
struct Comparison {
  const char* op;
  const char* expression;
  ProgramsByDType with_tensor, with_scalar;

  Tensor run(const Tensor& a, const Tensor& b) {
    require(a.defined() && b.defined(), op, "an input is undefined");
    require(a.dtype() == b.dtype(), op, "the inputs are ", a.dtype(), " and ", b.dtype(),
            "; convert one with to(dtype)");
    const DType dtype = a.dtype();
    return with_tensor
        .get(static_cast<std::size_t>(dtype),
             [&] {
               return new PointwiseProgram({op, "a b", expression}, {dtype, dtype}, DType::boolean);
             })
        .run({&a, &b});
  }

  Tensor run(const Tensor& a, double b) {
    require(a.defined(), op, "the input is undefined");
    const DType dtype = a.dtype();
    const double largest = std::ldexp(1, dtype == DType::i64 ? 53 : 31) - 1;  // Exact as double, and in range.
    require(is_floating(dtype) || (b == std::floor(b) && std::abs(b) <= largest), op, "the scalar ", b,
            " is not a whole number of at most ", largest, ", the tensor is ", dtype);
    return with_scalar
        .get(static_cast<std::size_t>(dtype),
             [&] {
               return new PointwiseProgram({op, "a | b", expression}, {dtype}, DType::boolean);
             })
        .run({&a}, {b});
  }
};

}  // namespace

// What `saved` of a row adds to a backward: parameters, names in the snippet, pointers, dtypes.
#define PARAMETER_none
#define PARAMETER_x , const Tensor& x
#define PARAMETER_y , const Tensor& y
#define PARAMETER_ab , const Tensor &a, const Tensor &b
#define NAMES_none
#define NAMES_x " x"
#define NAMES_y " y"
#define NAMES_ab " a b"
#define POINTERS_none
#define POINTERS_x , &x
#define POINTERS_y , &y
#define POINTERS_ab , &a, &b
#define DTYPES_none
#define DTYPES_x , f32
#define DTYPES_y , f32
#define DTYPES_ab , f32, f32

#define FORWARD(name, expression, scalar_names, scalars)                                        \
  {                                                                                             \
    static const PointwiseProgram program({#name, "x |" scalar_names, expression}, {f32}, f32); \
    return program.run({&x}, scalars);                                                          \
  }
#define BACKWARD(name, saved, expression, scalar_names, scalars)                                     \
  {                                                                                                  \
    if constexpr (passes_dy(expression)) return dy;                                                  \
    static const PointwiseProgram program({#name, "dy" NAMES_##saved " |" scalar_names, expression}, \
                                          {f32 DTYPES_##saved}, f32);                                \
    return program.run({&dy POINTERS_##saved}, scalars);                                             \
  }
#define SCALARS(...) \
  { __VA_ARGS__ }

#define CRISOL_UNARY(name, saved, forward, derivative, ...)          \
  Tensor name(const Tensor& x) FORWARD(name, forward, "", SCALARS()) \
      Tensor name##_backward(const Tensor& dy PARAMETER_##saved)     \
          BACKWARD(name##_backward, saved, derivative, "", SCALARS())
#define CRISOL_UNARY_1(name, s, initial, at, saved, forward, derivative, ...)               \
  Tensor name(const Tensor& x, double s) FORWARD(name, forward, " " #s, SCALARS(s))         \
      Tensor name##_backward(const Tensor& dy PARAMETER_##saved, [[maybe_unused]] double s) \
          BACKWARD(name##_backward, saved, derivative, " " #s, SCALARS(s))
#define CRISOL_UNARY_2(name, s, at, s2, at_2, saved, forward, derivative, ...)                             \
  Tensor name(const Tensor& x, double s, double s2) FORWARD(name, forward, " " #s " " #s2, SCALARS(s, s2)) \
      Tensor name##_backward(const Tensor& dy PARAMETER_##saved, double s, double s2)                      \
          BACKWARD(name##_backward, saved, derivative, " " #s " " #s2, SCALARS(s, s2))
#define CRISOL_BINARY(name, saved, forward, derivative_a, derivative_b, ...)         \
  Tensor name(const Tensor& a, const Tensor& b) {                                    \
    static const PointwiseProgram program({#name, "a b", forward}, {f32, f32}, f32); \
    return program.run({&a, &b});                                                    \
  }                                                                                  \
  Tensor name##_backward_a(const Tensor& dy PARAMETER_##saved)                       \
      BACKWARD(name##_backward_a, saved, derivative_a, "", SCALARS())                \
          Tensor name##_backward_b(const Tensor& dy PARAMETER_##saved)               \
              BACKWARD(name##_backward_b, saved, derivative_b, "", SCALARS())
#define CRISOL_COMPARISON(name, sign, ...)                                              \
  static Comparison& name##_programs() {                                                \
    static Comparison comparison{#name, "a " #sign " b ? (T)(1) : (T)(0)", {}, {}};     \
    return comparison;                                                                  \
  }                                                                                     \
  Tensor name(const Tensor& a, const Tensor& b) { return name##_programs().run(a, b); } \
  Tensor name(const Tensor& a, double b) { return name##_programs().run(a, b); }
#include "crisol/ops/pointwise.def"

void add_into(const Tensor& dst, const Tensor& src, double alpha) {
  require(dst.defined() && src.defined(), "add_into", "a tensor is undefined");
  require(dst.shape() == src.shape(), "add_into", "shapes ", dst.shape(), " and ", src.shape(), " differ");
  static const PointwiseProgram program({"add_into", "y x | alpha", "y + alpha * x"}, {f32}, f32, true);
  program.run_into(dst, {&src}, {alpha});
}

void mul_scalar_into(const Tensor& dst, double value) {
  static const PointwiseProgram program({"mul_scalar_into", "y | value", "y * value"}, {}, f32, true);
  program.run_into(dst, {}, {value});
}

}  // namespace crisol::ops
