// The rows of crisol/ops/pointwise.def. Some are ops of ONNX, and others are made of several.
#include <cmath>
#include <functional>
#include <map>
#include <string_view>

#include "base/text.h"
#include "graph/ops/elements.h"
#include "onnx/writer/lowering.h"
#include "ops/pointwise/pointwise_row.h"

namespace crisol::onnx {

namespace {

/// A value with operators, all elements of one dtype.
class Elements {
 public:
  Elements(Lowering& to, int value, DType dtype) : to_(&to), value_(value), dtype_(dtype) {}

  int value() const noexcept { return value_; }
  DType dtype() const noexcept { return dtype_; }
  Elements number(const Scalar& value) const { return with(to_->number(value, dtype_)); }

  template <class... Others>
  Elements node(const char* op, const Attributes& attributes, const Others&... others) const {
    return with(to_->node(op, {value_, others.value()...}, attributes));
  }
  template <class... Others>
  Elements operator()(const char* op, const Others&... others) const {
    return node(op, {}, others...);
  }
  friend Elements operator+(const Elements& a, const Elements& b) { return a("Add", b); }
  friend Elements operator-(const Elements& a, const Elements& b) { return a("Sub", b); }
  friend Elements operator*(const Elements& a, const Elements& b) { return a("Mul", b); }
  friend Elements operator/(const Elements& a, const Elements& b) { return a("Div", b); }

 private:
  Elements with(int value) const { return {*to_, value, dtype_}; }

  Lowering* to_;
  int value_;
  DType dtype_;
};

using Inputs = std::vector<Elements>;
using Scalars = std::span<const Scalar>;
using Writer = std::function<Elements(const Inputs& in, Scalars scalars)>;

double real(Scalars scalars, std::size_t i) { return scalars[i].as_double(); }

/// One node with the inputs of the row.
Writer same(const char* op, const Attributes& attributes = {}) {
  return [op, attributes](const Inputs& in, Scalars) {
    if (in.size() == 1) return in[0].node(op, attributes);
    return in.size() == 2 ? in[0].node(op, attributes, in[1]) : in[0].node(op, attributes, in[1], in[2]);
  };
}

/// One node with the row's number as an attribute.
Writer with_attribute(const char* op, const char* attribute) {
  return [=](const Inputs& in, Scalars scalars) { return in[0].node(op, {{attribute, real(scalars, 0)}}); };
}

Writer clip() {
  return [](const Inputs& in, Scalars s) {
    // NaN is no bound.
    if (std::isnan(real(s, 0))) return in[0]("Min", in[0].number(s[1]));
    if (std::isnan(real(s, 1))) return in[0]("Max", in[0].number(s[0]));
    return in[0]("Clip", in[0].number(s[0]), in[0].number(s[1]));
  };
}

std::map<std::string_view, Writer> activations() {
  constexpr double sixth = 1.0 / 6;
  return {
      {"relu", same("Relu")},
      {"sigmoid", same("Sigmoid")},
      {"selu", same("Selu", {{"alpha", 1.6732632423543772}, {"gamma", 1.0507009873554805}})},
      {"gelu", same("Gelu")},
      {"gelu_tanh", same("Gelu", {{"approximate", "tanh"}})},
      {"mish", same("Mish")},
      {"hard_sigmoid", same("HardSigmoid", {{"alpha", sixth}, {"beta", 0.5}})},
      {"hard_swish", same("HardSwish")},
      {"leaky_relu", with_attribute("LeakyRelu", "alpha")},
      {"elu", with_attribute("Elu", "alpha")},
      {"celu", with_attribute("Celu", "alpha")},
      {"prelu", same("PRelu")},
      {"clamp", clip()},
      {"hard_tanh", clip()},
      {"relu6", [](const Inputs& in, Scalars) { return in[0]("Clip", in[0].number(0), in[0].number(6)); }},
      {"silu", [](const Inputs& in, Scalars) { return in[0] * in[0]("Sigmoid"); }},
      {"log_sigmoid", [](const Inputs& in, Scalars) { return in[0]("Neg")("Softplus")("Neg"); }},
      {"softplus",
       [](const Inputs& in, Scalars s) {
         const Elements beta = in[0].number(real(s, 0)), scaled = in[0] * beta;
         return scaled("Greater", in[0].number(real(s, 1)))("Where", in[0], scaled("Softplus") / beta);
       }},
  };
}

Elements choice(const Elements& condition, const Elements& yes, const Elements& no) {
  return condition("Where", yes, no);
}

/// log(1 + x). The factor x / ((1 + x) - 1) makes good what 1 + x loses.
Elements log1p(const Elements& x) {
  const Elements sum = x + x.number(1), rest = sum - x.number(1), log = sum("Log");
  const Elements small = choice(rest("Equal", x.number(0)), x, log * (x / rest));
  return choice(x("Greater", x.number(1)), log, small);
}

/// exp(x) - 1, in the same way.
Elements expm1(const Elements& x) {
  const Elements power = x("Exp"), rest = power - x.number(1);
  const Elements small = choice(rest("Equal", x.number(0)), x, rest * (x / power("Log")));
  return choice(x("Abs")("Greater", x.number(0.5)), rest, small);
}

/// Also of -0.
Elements is_negative(const Elements& x) {
  const Elements zero = x.number(0);
  return x("Less", zero)("Or", x("Reciprocal")("Less", zero));
}

/// The angle of the point (x, y).
Elements atan2(const Elements& y, const Elements& x) {
  const Elements half_turn = x.number(3.141592653589793), is_left = is_negative(x);
  const Elements angle = (y / x)("Atan"), turn = choice(is_negative(y), half_turn("Neg"), half_turn);
  const Elements on_axis = choice(is_left, turn, y);
  return choice(y("Equal", x.number(0)), on_axis, choice(is_left, angle + turn, angle));
}

Elements hypot(const Elements& a, const Elements& b) {
  const Elements x = a("Abs"), y = b("Abs"), longer = x("Max", y), ratio = x("Min", y) / longer;
  return choice(longer("Equal", x.number(0)), longer, longer * (ratio * ratio + x.number(1))("Sqrt"));
}

Elements floor_divide(const Elements& a, const Elements& b) {
  if (is_floating(a.dtype())) return (a / b)("Floor");
  return (a - a("Mod", b)) / b;  // Div of whole numbers cuts off.
}

std::map<std::string_view, Writer> arithmetic() {
  return {
      {"expm1", [](const Inputs& in, Scalars) { return expm1(in[0]); }},
      {"log1p", [](const Inputs& in, Scalars) { return log1p(in[0]); }},
      {"atan2", [](const Inputs& in, Scalars) { return atan2(in[0], in[1]); }},
      {"hypot", [](const Inputs& in, Scalars) { return hypot(in[0], in[1]); }},
      {"logaddexp",
       [](const Inputs& in, Scalars) { return in[0]("Max", in[1]) + log1p((in[0] - in[1])("Abs")("Neg")("Exp")); }},
      {"floor_divide", [](const Inputs& in, Scalars) { return floor_divide(in[0], in[1]); }},
      {"add", same("Add")},
      {"sub", same("Sub")},
      {"mul", same("Mul")},
      {"div", same("Div")},
      {"pow", same("Pow")},
      {"neg", same("Neg")},
      {"abs", same("Abs")},
      {"sign", same("Sign")},
      {"minimum", same("Min")},
      {"maximum", same("Max")},
      {"fmod", same("Mod", {{"fmod", 1}})},
      {"remainder",
       [](const Inputs& in, Scalars) {
         if (!is_floating(in[0].dtype())) return in[0]("Mod", in[1]);
         return in[0] - (in[0] / in[1])("Floor") * in[1];
       }},
      {"reciprocal", same("Reciprocal")},
      {"square", [](const Inputs& in, Scalars) { return in[0] * in[0]; }},
      {"lerp", [](const Inputs& in, Scalars) { return in[0] + in[2] * (in[1] - in[0]); }},
      {"fma", [](const Inputs& in, Scalars) { return in[0] * in[1] + in[2]; }},
      {"addcmul", [](const Inputs& in, Scalars s) { return in[0] + in[0].number(s[0]) * in[1] * in[2]; }},
      {"addcdiv", [](const Inputs& in, Scalars s) { return in[0] + in[0].number(s[0]) * in[1] / in[2]; }},
      {"floor", same("Floor")},
      {"ceil", same("Ceil")},
      {"round", same("Round")},
      {"trunc", [](const Inputs& in, Scalars) { return in[0]("Sign") * in[0]("Abs")("Floor"); }},
      {"sqrt", same("Sqrt")},
      {"rsqrt", [](const Inputs& in, Scalars) { return in[0]("Sqrt")("Reciprocal"); }},
      {"exp", same("Exp")},
      {"exp2", [](const Inputs& in, Scalars) { return in[0].number(2)("Pow", in[0]); }},
      {"log", same("Log")},
      {"log2", [](const Inputs& in, Scalars) { return in[0]("Log") * in[0].number(1.4426950408889634); }},
      {"log10", [](const Inputs& in, Scalars) { return in[0]("Log") * in[0].number(0.4342944819032518); }},
  };
}

std::map<std::string_view, Writer> others() {
  return {
      {"sin", same("Sin")},
      {"cos", same("Cos")},
      {"tan", same("Tan")},
      {"asin", same("Asin")},
      {"acos", same("Acos")},
      {"atan", same("Atan")},
      {"sinh", same("Sinh")},
      {"cosh", same("Cosh")},
      {"tanh", same("Tanh")},
      {"asinh", same("Asinh")},
      {"acosh", same("Acosh")},
      {"atanh", same("Atanh")},
      {"erf", same("Erf")},
      {"eq", same("Equal")},
      {"ne", [](const Inputs& in, Scalars) { return in[0]("Equal", in[1])("Not"); }},
      {"lt", same("Less")},
      {"le", same("LessOrEqual")},
      {"gt", same("Greater")},
      {"ge", same("GreaterOrEqual")},
      {"isnan", same("IsNaN")},
      {"isinf", same("IsInf")},
      {"isfinite", [](const Inputs& in, Scalars) { return in[0]("IsNaN")("Or", in[0]("IsInf"))("Not"); }},
      {"bitwise_and", same("BitwiseAnd")},
      {"bitwise_or", same("BitwiseOr")},
      {"bitwise_xor", same("BitwiseXor")},
      {"bitwise_not", same("BitwiseNot")},
      {"trunc_divide", same("Div")},
      {"logical_and", same("And")},
      {"logical_or", same("Or")},
      {"logical_xor", same("Xor")},
      {"logical_not", same("Not")},
      {"where", same("Where")},
      {"masked_fill", [](const Inputs& in, Scalars) { return in[1]("Where", in[2], in[0]); }},
  };
}

/// The ONNX nodes for each row, by its name. A row is left out if ONNX has no nodes for it, or if they would lose
/// digits.
const std::map<std::string_view, Writer>& writers() {
  static const std::map<std::string_view, Writer> all = [] {
    std::map<std::string_view, Writer> writers = activations();
    writers.merge(arithmetic());
    writers.merge(others());
    return writers;
  }();
  return all;
}

bool rounds(std::string_view name) { return name == "trunc" || name == "floor" || name == "ceil" || name == "round"; }

/// ONNX computes with bool only in logic and choices.
bool takes_bool(const ops::PointwiseRow& row) {
  using Rule = ops::RowRule;
  return row.rule == Rule::logical || row.rule == Rule::choice || row.rule == Rule::fill ||
         std::string_view(row.name) == "eq" || std::string_view(row.name) == "ne";
}

}  // namespace

std::vector<int> lower_elements(Lowering& to, const graph::Node& node) {
  const ops::PointwiseRow& row = *graph::row_of(node);
  Inputs inputs;
  DType computed = DType::boolean;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    inputs.emplace_back(to, node.inputs[i], to.dtype(node.inputs[i]));
    if (!row.is_condition(i)) computed = inputs.back().dtype();
  }
  const auto writer = writers().find(row.name);
  if (writer == writers().end() || (computed == DType::boolean && !takes_bool(row)))
    fail(ErrorCode::invalid_argument, "trace", "a tensor of shape ", to.shape(node.outputs[0]), " comes from ",
         row.name, ", which has no form in ONNX");
  // Rounding leaves whole numbers as they are, and ONNX rounds only floats.
  if (!is_floating(computed) && rounds(row.name)) return {node.inputs[0]};
  return {writer->second(inputs, graph::scalars_of(node)).value()};
}

}  // namespace crisol::onnx
