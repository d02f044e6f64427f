// Elementwise ops.
#include <ATen/CompositeExplicitAutogradNonFunctionalFunctions.h>

#include <cmath>

#include "call.h"
#include "complex.h"
#include "crisol/dtype_table.h"
#include "crisol/functions/arrange.h"
#include "crisol/functions/bitwise.h"
#include "memory.h"

namespace crisol_torch {

namespace {

namespace ops = crisol::ops;
using crisol::DType;
using crisol::Operand;
using crisol::Tensor;

using UnaryInto = void (*)(const Tensor&, const Tensor&);
using BinaryInto = void (*)(const Tensor&, const Operand&, const Operand&);

// The result of "NAME.out". PyTorch gives some ops an empty one, which gets the shape of the elements.
Tensor sized(const Call& c, at::IntArrayRef sizes) {
  const at::Tensor out = c.torch(c.size() - 1);
  if (out.numel() == 0 && out.sizes() != sizes) out.resize_(sizes);
  return tensor_of(out);
}

at::IntArrayRef sizes_at(const Call& c, std::size_t i) {
  return c.value(i).isTensor() ? c.value(i).toTensor().sizes() : at::IntArrayRef();
}

// NAME.out(x, out)
Run unary(UnaryInto f) {
  return [f](const Call& c) {
    f(sized(c, sizes_at(c, 0)), c.tensor(0));
    return Results{c.value(1)};
  };
}
// NAME.out(a, b, out)
Run binary(BinaryInto f) {
  return [f](const Call& c) {
    f(sized(c, at::infer_size(sizes_at(c, 0), sizes_at(c, 1))), c.operand(0), c.operand(1));
    return Results{c.value(2)};
  };
}
// NAME_backward.grad_input(dy, x or y, dx)
Run gradient(void (*f)(const Tensor&, const Tensor&, const Tensor&)) {
  return into([f](const Call& c, const Tensor& out) { f(out, c.tensor(0), c.tensor(1)); });
}

// NAME.Tensor_out(a, b, out)
Run bitwise(Tensor (*f)(const Operand&, const Operand&), BinaryInto of_bool = nullptr) {
  return into([f, of_bool](const Call& c, const Tensor& out) {
    if (out.dtype() == DType::boolean && of_bool != nullptr) return of_bool(out, c.operand(0), c.operand(1));
    ops::copy_into(out, f(c.operand(0), c.operand(1)));
  });
}

// a << b and a >> b
Run shift(Tensor (*f)(const Operand&, const Operand&)) {
  return gives([f](const Call& c) { return f(c.operand(0), c.operand(1)); });
}
Run shift_in_place(Tensor (*f)(const Operand&, const Operand&)) {
  return in_place([f](const Call& c, const Tensor& x) { ops::copy_into(x, f(x, c.operand(1))); });
}

bool is_one(const crisol::Scalar& number) { return number.as_double() == 1; }

// a + alpha b
void add_scaled(const Tensor& out, const Operand& a, const Operand& b, const crisol::Scalar& alpha) {
  if (is_one(alpha))
    ops::add_into(out, a, b);
  else
    ops::addcmul_into(out, a, b, 1, alpha);
}

void subtract(const Call& c, const Tensor& out) {
  const crisol::Scalar alpha = c.scalar(2);
  if (is_one(alpha)) return ops::sub_into(out, c.operand(0), c.operand(1));
  add_scaled(out, c.operand(0), c.operand(1),
             is_floating(alpha.dtype()) ? crisol::Scalar(-alpha.as_double()) : crisol::Scalar(-alpha.as_int()));
}

void divide(const Call& c, const Tensor& out) {
  if (c.is_none(2)) return ops::div_into(out, c.operand(0), c.operand(1));
  if (c.value(2).toStringRef() == "floor") return ops::floor_divide_into(out, c.operand(0), c.operand(1));
  if (!is_floating(out.dtype())) return ops::copy_into(out, crisol::trunc_divide(c.operand(0), c.operand(1)));
  ops::trunc_into(out, ops::div(c.operand(0), c.operand(1)));
}

void clamp(const Tensor& out, const Tensor& x, const std::optional<Argument>& low,
           const std::optional<Argument>& high) {
  if (low && high)
    ops::minimum_into(out, ops::maximum(x, *low), *high);
  else if (low)
    ops::maximum_into(out, x, *low);
  else if (high)
    ops::minimum_into(out, x, *high);
  else
    ops::copy_into(out, x);
}

std::optional<Argument> bound(const Call& c, std::size_t i) {
  if (c.is_none(i)) return std::nullopt;
  return c.operand(i);
}

// (x, for NaN, for infinity, for -infinity, out). Without a number, infinities become the ends of the type.
void finite_numbers(const Call& c, const Tensor& out) {
  const Tensor x = c.tensor(0);
  need(x.shape() == out.shape(), "a result of another shape");
  if (!is_floating(x.dtype())) return ops::copy_into(out, x);
  const crisol::DTypeRow& row = crisol::dtype_row(x.dtype());
  const double largest = std::ldexp(1 - std::ldexp(1.0, -row.digits), row.exponent);
  const Tensor numbers = ops::where(ops::isnan(x), c.scalar(1, 0.0), x);
  const Tensor below = ops::where(ops::eq(x, INFINITY), c.scalar(2, largest), numbers);
  ops::where_into(out, ops::eq(x, -INFINITY), c.scalar(3, -largest), below);
}

Run clamps(int low, int high) {
  return into([low, high](const Call& c, const Tensor& out) {
    const auto at = [&](int i) { return i < 0 ? std::nullopt : bound(c, static_cast<std::size_t>(i)); };
    clamp(out, c.tensor(0), at(low), at(high));
  });
}

// scale (x where positive, else alpha (e^(input_scale x) - 1)) is PyTorch's formula for elu, selu and celu.
void elu(const Call& c, const Tensor& out) {
  const double alpha = c.number(1), scale = c.number(2), input_scale = c.number(3);
  if (input_scale != 1) {
    need(scale == 1 && alpha * input_scale == 1, "the factors of elu");
    return ops::celu_into(out, c.tensor(0), alpha);
  }
  if (scale == 1) return ops::elu_into(out, c.tensor(0), alpha);
  ops::mul_into(out, ops::elu(c.tensor(0), alpha), scale);
}

void elu_backward(const Call& c, const Tensor& out) {
  const double alpha = c.number(1), scale = c.number(2), input_scale = c.number(3);
  need(!c.flag(4), "the gradient of elu in place");
  if (input_scale != 1) {
    need(scale == 1 && alpha * input_scale == 1, "the factors of elu");
    return ops::celu_backward_into(out, c.tensor(0), c.tensor(5), alpha);
  }
  if (scale == 1) return ops::elu_backward_into(out, c.tensor(0), c.tensor(5), alpha);
  ops::mul_into(out, ops::elu_backward(c.tensor(0), c.tensor(5), alpha), scale);
}

bool is_tanh(const Call& c, std::size_t i) { return c.value(i).toStringRef() == "tanh"; }

void threshold_backward(const Call& c, const Tensor& out) {
  if (c.number(2) == 0) return ops::relu_backward_into(out, c.tensor(0), c.tensor(1));
  ops::masked_fill_into(out, c.tensor(0), ops::le(c.tensor(1), c.scalar(2)), 0);
}

void masked_fill(const Call& c, const Tensor& x) {
  const Tensor mask = c.tensor(1);
  need(mask.dtype() == DType::boolean, "the mask is not bool");
  ops::masked_fill_into(x, x, mask, c.operand(2));
}

// (x, y, out): x log y, which is 0 where x is 0 and y is a number.
void xlogy(const Call& c, const Tensor& out) {
  const Tensor x = c.tensor(0), y = c.tensor(1);
  need(is_floating(x.dtype()) && is_floating(y.dtype()), "whole numbers");
  ops::masked_fill_into(out, ops::mul(x, ops::log(y)), ops::logical_and(ops::eq(x, 0), ops::eq(y, y)), 0);
}

// (x, the number where x is 0, out)
void heaviside(const Call& c, const Tensor& out) {
  const Argument x = c.operand(0);
  ops::where_into(out, ops::eq(x, 0), c.operand(1), ops::cast(ops::gt(x, 0), out.dtype()));
}

// (x, out): sin(pi x) / (pi x), which is 1 at 0.
void sinc(const Tensor& out, const Tensor& x) {
  const Tensor angle = ops::mul(x, M_PI);
  ops::where_into(out, ops::eq(x, 0), 1.0, ops::div(ops::sin(angle), angle));
}

// log(x / (1 - x)). With a bound, x is first moved between the bound and 1 - the bound.
void logit(const Tensor& out, const Tensor& given, const c10::IValue& bound) {
  need(is_floating(given.dtype()), "whole numbers");
  const double eps = bound.isNone() ? 0 : bound.toDouble();
  const Tensor x =
      bound.isNone() ? given : ops::where(ops::lt(given, eps), eps, ops::minimum(given, crisol::Scalar(1 - eps)));
  ops::log_into(out, ops::div(x, ops::sub(1.0, x)));
}
// (dy, x, bound, dx). Outside the bound the gradient is 0, and without a bound it is NaN outside [0, 1].
void logit_backward(const Call& c, const Tensor& out) {
  const Tensor dy = c.tensor(0), x = c.tensor(1);
  const bool bounded = !c.is_none(2);
  const double eps = bounded ? c.number(2) : 0;
  const Tensor outside = ops::logical_or(ops::lt(x, eps), ops::gt(x, 1 - eps));
  ops::where_into(out, outside, bounded ? 0.0 : NAN, ops::div(dy, ops::mul(x, ops::sub(1.0, x))));
}

// (x, other, axis, out): the cross product along an axis of size 3.
void cross(const Call& c, const Tensor& out) {
  const int axis = c.axis(2);
  const auto moved = [&](std::size_t i, std::int64_t by) { return crisol::roll(c.tensor(i), {by}, {axis}); };
  ops::sub_into(out, ops::mul(moved(0, -1), moved(1, -2)), ops::mul(moved(0, -2), moved(1, -1)));
}

// Zero where |x| is at most the number.
void zero_within(const Tensor& out, const Tensor& values, const Tensor& x, const crisol::Scalar& bound) {
  ops::masked_fill_into(out, values, ops::le(ops::abs(x), bound), 0);
}

// (x, bound, out): x moves towards 0 by the bound.
void softshrink(const Call& c, const Tensor& out) {
  const Tensor x = c.tensor(0);
  const double bound = c.number(1);
  need(bound >= 0, "softshrink with a negative number");
  ops::sub_into(out, x, ops::clamp(x, -bound, bound));
}

// The halves of x along an axis.
std::array<Tensor, 2> halves(const Tensor& x, int axis) {
  need(x.dim() > 0 && x.size(axis) % 2 == 0, "an odd axis");
  const std::int64_t half = x.size(axis) / 2;
  return {ops::narrow(x, axis, 0, half), ops::narrow(x, axis, half, half)};
}
// (x, axis, out)
void glu(const Call& c, const Tensor& out) {
  const auto [value, gate] = halves(c.tensor(0), c.axis(1));
  ops::mul_into(out, value, ops::sigmoid(gate));
}
// (dy, x, axis)
Tensor glu_backward(const Call& c) {
  const Tensor dy = c.tensor(0);
  const auto [value, gate] = halves(c.tensor(1), c.axis(2));
  const Tensor open = ops::sigmoid(gate);
  return ops::cat({ops::mul(dy, open), ops::sigmoid_backward(ops::mul(dy, value), open)}, c.axis(2));
}

// (dy, x, weight). The gradient of the weight is still one number for each element.
Results prelu_backward(const Call& c) {
  const Tensor dy = c.tensor(0), x = c.tensor(1), positive = ops::gt(x, 0);
  return {wrap(ops::where(positive, dy, ops::mul(c.tensor(2), dy))),
          wrap(ops::masked_fill(ops::mul(x, dy), positive, 0))};
}

// The extreme of two numbers, or the number beside a NaN.
template <BinaryInto f>
void extreme_number(const Call& c, const Tensor& out) {
  const Tensor a = c.tensor(0), b = c.tensor(1);
  const Tensor left = ops::where(ops::isnan(a), b, a), right = ops::where(ops::isnan(b), a, b);
  f(out, left, right);
}

Results equal(const Call& c) {
  if (c.torch(0).sizes() != c.torch(1).sizes()) return {false};
  return {ops::all(ops::eq(c.tensor(0), c.tensor(1))).item<bool>()};
}

Tensor where(const Call& c) {
  const Tensor condition = c.tensor(0);
  return ops::where(condition, c.operand(1), c.operand(2));
}

Rows arithmetic() {
  return {
      {"add.out", or_complex(into([](const Call& c, const Tensor& out) {
                               add_scaled(out, c.operand(0), c.operand(1), c.scalar(2));
                             }),
                             [](const Call& c) { return add_complex(c, 1); })},
      {"sub.out", or_complex(into(subtract), [](const Call& c) { return add_complex(c, -1); })},
      {"mul.out", or_complex(binary(ops::mul_into), multiply_complex)},
      {"rsub.Tensor", [](const Call& c) { return Results{at::sub(c.torch(1), c.torch(0), c.value(2).toScalar())}; }},
      {"div.out", binary(ops::div_into)},
      {"div.out_mode", into(divide)},
      {"floor_divide", gives([](const Call& c) { return ops::floor_divide(c.operand(0), c.operand(1)); })},
      {"floor_divide.out", binary(ops::floor_divide_into)},
      {"remainder.Tensor_out", binary(ops::remainder_into)},
      {"fmod.Tensor_out", binary(ops::fmod_into)},
      {"pow.Tensor_Tensor_out", binary(ops::pow_into)},
      {"pow.Tensor_Scalar_out", binary(ops::pow_into)},
      {"pow.Scalar_out", binary(ops::pow_into)},
      {"maximum.out", binary(ops::maximum_into)},
      {"minimum.out", binary(ops::minimum_into)},
      {"fmax.out", into(extreme_number<ops::maximum_into>)},
      {"fmin.out", into(extreme_number<ops::minimum_into>)},
      {"atan2.out", binary(ops::atan2_into)},
      {"hypot.out", binary(ops::hypot_into)},
      {"xlogy.OutTensor", into(xlogy)},
      {"logaddexp.out", binary(ops::logaddexp_into)},
      {"copysign.out", binary(ops::copysign_into)},
      {"heaviside.out", into(heaviside)},
      {"linalg_cross.out", into(cross)},
      {"addcmul.out", into([](const Call& c, const Tensor& out) {
         ops::addcmul_into(out, c.operand(0), c.operand(1), c.operand(2), c.scalar(3));
       })},
      {"addcdiv.out", into([](const Call& c, const Tensor& out) {
         ops::addcdiv_into(out, c.operand(0), c.operand(1), c.operand(2), c.scalar(3));
       })},
      {"lerp.Scalar_out",
       into([](const Call& c, const Tensor& out) { ops::lerp_into(out, c.operand(0), c.operand(1), c.operand(2)); })},
      {"lerp.Tensor_out",
       into([](const Call& c, const Tensor& out) { ops::lerp_into(out, c.operand(0), c.operand(1), c.operand(2)); })},
      {"clamp.out", clamps(1, 2)},
      {"clamp.Tensor_out", clamps(1, 2)},
      {"clamp_min.out", clamps(1, -1)},
      {"clamp_min.Tensor_out", clamps(1, -1)},
      {"clamp_max.out", clamps(-1, 1)},
      {"clamp_max.Tensor_out", clamps(-1, 1)},
  };
}

Rows unary_functions() {
  return {
      {"neg.out", unary(ops::neg_into)},
      {"abs.out", unary(ops::abs_into)},
      {"sign.out", unary(ops::sign_into)},
      {"sgn.out", unary(ops::sign_into)},
      {"reciprocal.out", unary(ops::reciprocal_into)},
      {"floor.out", unary(ops::floor_into)},
      {"ceil.out", unary(ops::ceil_into)},
      {"round.out", unary(ops::round_into)},
      {"trunc.out", unary(ops::trunc_into)},
      {"frac.out", into([](const Call& c, const Tensor& out) {
         const Tensor x = c.tensor(0);
         need(is_floating(x.dtype()), "parts of whole numbers");
         ops::sub_into(out, x, ops::trunc(x));
       })},
      {"nan_to_num.out", into(finite_numbers)},
      {"sqrt.out", unary(ops::sqrt_into)},
      {"rsqrt.out", unary(ops::rsqrt_into)},
      {"exp.out", unary(ops::exp_into)},
      {"exp2.out", unary(ops::exp2_into)},
      {"expm1.out", unary(ops::expm1_into)},
      {"log.out", unary(ops::log_into)},
      {"log2.out", unary(ops::log2_into)},
      {"log10.out", unary(ops::log10_into)},
      {"log1p.out", unary(ops::log1p_into)},
      {"sin.out", unary(ops::sin_into)},
      {"cos.out", unary(ops::cos_into)},
      {"tan.out", unary(ops::tan_into)},
      {"asin.out", unary(ops::asin_into)},
      {"acos.out", unary(ops::acos_into)},
      {"atan.out", unary(ops::atan_into)},
      {"sinh.out", unary(ops::sinh_into)},
      {"cosh.out", unary(ops::cosh_into)},
      {"tanh.out", unary(ops::tanh_into)},
      {"asinh.out", unary(ops::asinh_into)},
      {"acosh.out", unary(ops::acosh_into)},
      {"atanh.out", unary(ops::atanh_into)},
      {"erf.out", unary(ops::erf_into)},
      {"erfc.out", unary(ops::erfc_into)},
      {"lgamma.out", unary(ops::lgamma_into)},
      {"signbit.out", unary(ops::signbit_into)},
      {"sinc.out", unary(sinc)},
      {"logit", gives([](const Call& c) {
         const Tensor x = c.tensor(0), y = crisol::empty(x.shape(), x.dtype(), x.device());
         logit(y, x, c.value(1));
         return y;
       })},
      {"logit_", in_place([](const Call& c, const Tensor& x) { logit(x, x, c.value(1)); })},
      {"logit.out", into([](const Call& c, const Tensor& out) { logit(out, c.tensor(0), c.value(1)); })},
      {"logit_backward.grad_input", into(logit_backward)},
      {"isnan", gives([](const Call& c) { return ops::isnan(c.tensor(0)); })},
      {"isposinf.out", into([](const Call& c, const Tensor& out) { ops::eq_into(out, c.tensor(0), INFINITY); })},
      {"isneginf.out", into([](const Call& c, const Tensor& out) { ops::eq_into(out, c.tensor(0), -INFINITY); })},
      {"isinf", gives([](const Call& c) { return ops::isinf(c.tensor(0)); })},
  };
}

Rows comparisons() {
  return {
      {"equal", equal},
      {"eq.Tensor_out", binary(ops::eq_into)},
      {"ne.Tensor_out", binary(ops::ne_into)},
      {"lt.Tensor_out", binary(ops::lt_into)},
      {"le.Tensor_out", binary(ops::le_into)},
      {"gt.Tensor_out", binary(ops::gt_into)},
      {"ge.Tensor_out", binary(ops::ge_into)},
      {"eq.Scalar_out", binary(ops::eq_into)},
      {"ne.Scalar_out", binary(ops::ne_into)},
      {"lt.Scalar_out", binary(ops::lt_into)},
      {"le.Scalar_out", binary(ops::le_into)},
      {"gt.Scalar_out", binary(ops::gt_into)},
      {"ge.Scalar_out", binary(ops::ge_into)},
      {"logical_and.out", binary(ops::logical_and_into)},
      {"logical_or.out", binary(ops::logical_or_into)},
      {"logical_xor.out", binary(ops::logical_xor_into)},
      {"logical_not.out", unary(ops::logical_not_into)},
      {"bitwise_and.Tensor_out", bitwise(crisol::bitwise_and, ops::logical_and_into)},
      {"bitwise_or.Tensor_out", bitwise(crisol::bitwise_or, ops::logical_or_into)},
      {"bitwise_xor.Tensor_out", bitwise(crisol::bitwise_xor, ops::logical_xor_into)},
      {"bitwise_not.out", into([](const Call& c, const Tensor& out) {
         if (out.dtype() == DType::boolean) return ops::logical_not_into(out, c.tensor(0));
         ops::copy_into(out, crisol::bitwise_not(c.tensor(0)));
       })},
      {"bitwise_left_shift.Tensor_out", bitwise(crisol::bitwise_left_shift)},
      {"bitwise_right_shift.Tensor_out", bitwise(crisol::bitwise_right_shift)},
      {"__lshift__.Scalar", shift(crisol::bitwise_left_shift)},
      {"__lshift__.Tensor", shift(crisol::bitwise_left_shift)},
      {"__rshift__.Scalar", shift(crisol::bitwise_right_shift)},
      {"__rshift__.Tensor", shift(crisol::bitwise_right_shift)},
      {"__ilshift__.Scalar", shift_in_place(crisol::bitwise_left_shift)},
      {"__ilshift__.Tensor", shift_in_place(crisol::bitwise_left_shift)},
      {"__irshift__.Scalar", shift_in_place(crisol::bitwise_right_shift)},
      {"__irshift__.Tensor", shift_in_place(crisol::bitwise_right_shift)},
      {"where.self", gives(where)},
      {"where.self_out",
       into([](const Call& c, const Tensor& out) { ops::where_into(out, c.tensor(0), c.operand(1), c.operand(2)); })},
      {"masked_fill_.Scalar", in_place(masked_fill)},
      {"masked_fill_.Tensor", in_place(masked_fill)},
  };
}

Rows activations() {
  return {
      {"relu", gives([](const Call& c) { return ops::relu(c.tensor(0)); })},
      {"relu_", in_place([](const Call&, const Tensor& x) { ops::relu_into(x, x); })},
      {"threshold.out", into([](const Call& c, const Tensor& out) {
         const Tensor x = c.tensor(0);
         ops::masked_fill_into(out, x, ops::le(x, c.scalar(1)), c.scalar(2));
       })},
      {"threshold_backward.grad_input", into(threshold_backward)},
      {"sigmoid.out", unary(ops::sigmoid_into)},
      {"sigmoid_backward.grad_input", gradient(ops::sigmoid_backward_into)},
      {"tanh_backward.grad_input", gradient(ops::tanh_backward_into)},
      {"gelu.out", into([](const Call& c, const Tensor& out) {
         (is_tanh(c, 1) ? ops::gelu_tanh_into : ops::gelu_into)(out, c.tensor(0));
       })},
      {"gelu_backward.grad_input", into([](const Call& c, const Tensor& out) {
         (is_tanh(c, 2) ? ops::gelu_tanh_backward_into : ops::gelu_backward_into)(out, c.tensor(0), c.tensor(1));
       })},
      {"silu.out", unary(ops::silu_into)},
      {"silu_backward.grad_input", gradient(ops::silu_backward_into)},
      {"mish.out", unary(ops::mish_into)},
      {"mish_backward", gives([](const Call& c) { return ops::mish_backward(c.tensor(0), c.tensor(1)); })},
      {"elu.out", into(elu)},
      {"elu_backward.grad_input", into(elu_backward)},
      {"leaky_relu.out",
       into([](const Call& c, const Tensor& out) { ops::leaky_relu_into(out, c.tensor(0), c.scalar(1)); })},
      // The sign of the result is the sign of the input, because PyTorch refuses a negative slope in place.
      {"leaky_relu_backward.grad_input", into([](const Call& c, const Tensor& out) {
         ops::leaky_relu_backward_into(out, c.tensor(0), c.tensor(1), c.scalar(2));
       })},
      {"hardtanh", gives([](const Call& c) { return ops::hard_tanh(c.tensor(0), c.scalar(1), c.scalar(2)); })},
      {"hardtanh_",
       in_place([](const Call& c, const Tensor& x) { ops::hard_tanh_into(x, x, c.scalar(1), c.scalar(2)); })},
      {"hardtanh.out",
       into([](const Call& c, const Tensor& out) { ops::hard_tanh_into(out, c.tensor(0), c.scalar(1), c.scalar(2)); })},
      {"hardtanh_backward", gives([](const Call& c) {
         return ops::hard_tanh_backward(c.tensor(0), c.tensor(1), c.scalar(2), c.scalar(3));
       })},
      {"hardswish", gives([](const Call& c) { return ops::hard_swish(c.tensor(0)); })},
      {"hardswish_", in_place([](const Call&, const Tensor& x) { ops::hard_swish_into(x, x); })},
      {"hardswish.out", unary(ops::hard_swish_into)},
      {"hardswish_backward", gives([](const Call& c) { return ops::hard_swish_backward(c.tensor(0), c.tensor(1)); })},
      {"hardsigmoid.out", unary(ops::hard_sigmoid_into)},
      {"hardsigmoid_backward.grad_input", gradient(ops::hard_sigmoid_backward_into)},
      {"softplus.out",
       into([](const Call& c, const Tensor& out) { ops::softplus_into(out, c.tensor(0), c.scalar(1), c.scalar(2)); })},
      {"softplus_backward.grad_input", into([](const Call& c, const Tensor& out) {
         ops::softplus_backward_into(out, c.tensor(0), c.tensor(1), c.scalar(2), c.scalar(3));
       })},
      {"log_sigmoid_forward",
       [](const Call& c) {
         return Results{wrap(ops::log_sigmoid(c.tensor(0))), at::empty({0}, c.torch(0).options())};
       }},
      {"log_sigmoid_backward",
       gives([](const Call& c) { return ops::log_sigmoid_backward(c.tensor(0), c.tensor(1)); })},
      {"_prelu_kernel", gives([](const Call& c) { return ops::prelu(c.tensor(0), c.tensor(1)); })},
      {"_prelu_kernel_backward", prelu_backward},
      {"glu.out", into(glu)},
      {"glu_backward", gives(glu_backward)},
      {"glu_backward.grad_input", into([](const Call& c, const Tensor& out) { ops::copy_into(out, glu_backward(c)); })},
      {"hardshrink.out", into([](const Call& c, const Tensor& out) {
         const Tensor x = c.tensor(0);
         zero_within(out, x, x, c.scalar(1));
       })},
      {"softshrink.out", into(softshrink)},
      {"hardshrink_backward.grad_input",
       into([](const Call& c, const Tensor& out) { zero_within(out, c.tensor(0), c.tensor(1), c.scalar(2)); })},
      {"softshrink_backward.grad_input",
       into([](const Call& c, const Tensor& out) { zero_within(out, c.tensor(0), c.tensor(1), c.scalar(2)); })},
  };
}

// ---- Two tensors of one shape and dtype

// PyTorch makes the result of these ops with an iterator, and calls the dispatcher again. Tensors of one layout need
// neither.
bool have_one_layout(const at::Tensor& a, const at::Tensor& b) {
  return a.is_privateuseone() && a.device() == b.device() && a.scalar_type() == b.scalar_type() &&
         a.sizes() == b.sizes() && a.is_contiguous() && b.is_contiguous() && !a.is_neg() && !b.is_neg();
}

template <Tensor (*f)(const Operand&, const Operand&)>
at::Tensor combine(const at::Tensor& a, const at::Tensor& b) {
  return guarded([&] { return wrap(f(tensor_of(a), tensor_of(b))); });
}
template <Tensor (*f)(const Operand&, const Operand&), at::Tensor (*otherwise)(const at::Tensor&, const at::Tensor&)>
at::Tensor pair(const at::Tensor& a, const at::Tensor& b) {
  return have_one_layout(a, b) && computes_in_f32(a.scalar_type()) ? combine<f>(a, b) : otherwise(a, b);
}
template <Tensor (*f)(const Operand&, const Operand&),
          at::Tensor (*otherwise)(const at::Tensor&, const at::Tensor&, const at::Scalar&)>
at::Tensor scaled_pair(const at::Tensor& a, const at::Tensor& b, const at::Scalar& alpha) {
  return have_one_layout(a, b) && computes_in_f32(a.scalar_type()) && alpha.equal(1) ? combine<f>(a, b)
                                                                                     : otherwise(a, b, alpha);
}

namespace generic = at::compositeexplicitautogradnonfunctional;

// Autograd's layer takes as much time as the op itself. Two tensors without gradients need it not.
bool needs_no_gradient(const at::Tensor& x) {
  return !(at::GradMode::is_enabled() && x.requires_grad()) && !x._fw_grad(0).defined();
}
template <class Op, Tensor (*f)(const Operand&, const Operand&), class... Number>
at::Tensor above_autograd(c10::DispatchKeySet keys, const at::Tensor& a, const at::Tensor& b, const Number&... alpha) {
  const bool is_next =
      (keys & c10::after_ADInplaceOrView_keyset).highestPriorityTypeId() == c10::DispatchKey::PrivateUse1;
  if (is_next && needs_no_gradient(a) && needs_no_gradient(b) && have_one_layout(a, b) &&
      computes_in_f32(a.scalar_type()) && (alpha.equal(1) && ...))
    return combine<f>(a, b);
  // PyTorch's kernel of autograd stands under this key, too.
  const c10::DispatchKeySet rest = keys & c10::after_autograd_keyset;
  return Op::redispatch(rest | c10::DispatchKeySet(c10::DispatchKey::AutogradOther), a, b, alpha...);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("add.Tensor", scaled_pair<ops::add, generic::add>);
  m.impl("sub.Tensor", scaled_pair<ops::sub, generic::sub>);
  m.impl("mul.Tensor", pair<ops::mul, generic::mul>);
  m.impl("div.Tensor", pair<ops::div, generic::div>);
}

TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) {
  m.impl("add.Tensor", above_autograd<at::_ops::add_Tensor, ops::add, at::Scalar>);
  m.impl("sub.Tensor", above_autograd<at::_ops::sub_Tensor, ops::sub, at::Scalar>);
  m.impl("mul.Tensor", above_autograd<at::_ops::mul_Tensor, ops::mul>);
  m.impl("div.Tensor", above_autograd<at::_ops::div_Tensor, ops::div>);
}

}  // namespace

Rows pointwise_rows() {
  Rows rows;
  for (const auto part : {arithmetic, unary_functions, comparisons, activations})
    for (Row& row : part()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace crisol_torch
