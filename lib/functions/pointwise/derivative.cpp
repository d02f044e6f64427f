#include "functions/pointwise/derivative.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "autograd/refusal.h"
#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/functions/elementwise.h"
#include "functions/pointwise/pointwise.h"
#include "ops/pointwise/pointwise.h"

namespace crisol::autograd {

namespace {

namespace rows = ops::rows;
using ops::ExpressionPart;
using ops::ExpressionParts;
using ops::PointwiseRow;
using ops::RowExpression;
using Kind = ExpressionPart::Kind;

/// A row that derivatives need and the table lacks, because it is no function of the library.
constexpr PointwiseRow digamma{"digamma",
                               ops::RowRule::floating,
                               1,
                               {"x"},
                               0,
                               {},
                               "digamma_(x)",
                               nullptr,
                               {ops::parts_of([] { return RowExpression("dy") * trigamma(RowExpression("x")); })},
                               "derivative of lgamma"};

/// The row of a function that an expression calls, or nullptr.
const PointwiseRow* row_of(std::string_view name) {
  if (name.back() == '_') name.remove_suffix(1);
  if (name == "fabs") name = "abs";
  if (name == digamma.name) return &digamma;
  const auto all = ops::all_rows();
  const auto row = std::find_if(all.begin(), all.end(), [&](const PointwiseRow* r) { return r->name == name; });
  return row == all.end() ? nullptr : *row;
}

/// Functions of derivatives that consist of several rows.
constexpr std::string_view gelu_slope = "gelu_slope_", tanh_softplus = "tanh_softplus_";

/// A tensor, or a number.
struct Value {
  Tensor tensor;
  double number = 0;

  bool is_number() const noexcept { return !tensor.defined(); }
  Operand operand() const noexcept { return is_number() ? Operand(number) : Operand(tensor); }
};

/// The values for which the names in an expression stand.
struct Names {
  const PointwiseRow& row;
  Value dy, y;
  std::vector<Value> inputs, scalars;

  const Value* find(std::string_view name) const {
    if (name == "dy") return &dy;
    if (name == "y") return &y;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (name == row.inputs[i]) return &inputs[i];
    for (std::size_t i = 0; i < scalars.size(); ++i)
      if (name == row.scalars[i]) return &scalars[i];
    return nullptr;
  }
};

/// An operator: its row, and the same for two numbers.
struct Operator {
  std::string_view name;
  const PointwiseRow* row;
  double (*of_numbers)(double, double);
};

#define OPERATOR(sign, name, level, row) {name, &rows::row, [](double a, double b) -> double { return a sign b; }},
constexpr Operator operators[]{CRISOL_OPERATORS(OPERATOR)};
#undef OPERATOR

/// Computes an expression of tensors and numbers.
class Computation {
 public:
  Computation(ExpressionParts parts, const Names& names) : at_(parts.first), names_(names) {}

  /// The value of the next part and its operands.
  Value next() {
    const ExpressionPart& part = *at_++;
    if (part.kind == Kind::name) return guarded(*names_.find(part.name));
    if (part.kind == Kind::real || part.kind == Kind::whole) return {{}, part.number};
    if (part.kind == Kind::choice) return choice();
    std::vector<Value> values;
    for (std::size_t i = 0; i < part.operands; ++i) values.push_back(next());
    if (part.kind == Kind::call) return call(part.name, values);
    if (part.operands == 1) return apply(rows::neg, values);
    const Operator& found = *std::find_if(std::begin(operators), std::end(operators),
                                          [&](const Operator& one) { return one.name == part.name; });
    const Value &a = values[0], &b = values[1];
    return a.is_number() && b.is_number() ? Value{{}, found.of_numbers(a.number, b.number)} : apply(*found.row, values);
  }

 private:
  Value choice() {
    const Value condition = next();
    const Value first = branch(condition, true), second = branch(condition, false);
    if (condition.is_number()) return condition.number != 0 ? first : second;
    return {autograd::pointwise(rows::where, {condition.operand(), first.operand(), second.operand()})};
  }

  // A branch reads 1 at the elements that do not take the branch. With their own values, its derivatives could be
  // infinite there, and 0 times infinity is NaN.
  Value branch(const Value& condition, bool taken_if) {
    guards_.push_back({condition, taken_if});
    const Value value = next();
    guards_.pop_back();
    return value;
  }

  Value guarded(Value value) const {
    if (value.is_number()) return value;
    for (const auto& [condition, taken_if] : guards_) {
      if (condition.is_number()) continue;
      const Operand own = value.operand(), one = 1.0f;
      value.tensor =
          autograd::pointwise(rows::where, {condition.operand(), taken_if ? own : one, taken_if ? one : own});
    }
    return value;
  }

  Value call(std::string_view name, const std::vector<Value>& values) const {
    const Tensor& x = values[0].tensor;
    if (name == gelu_slope) return {0.5 * erfc(x * -0.7071067811865476) + x * exp(x * x * -0.5) * 0.3989422804014327};
    if (name == tanh_softplus) return {tanh(softplus(x))};
    return apply(*row_of(name), values);
  }

  Value apply(const PointwiseRow& row, const std::vector<Value>& values) const {
    std::vector<Operand> operands;
    operands.reserve(values.size());
    for (const Value& value : values) operands.push_back(value.operand());
    // A row needs at least one tensor among its operands.
    if (std::all_of(values.begin(), values.end(), [](const Value& value) { return value.is_number(); }))
      operands[0] = full({}, values[0].number, value_type(names_.dy.tensor.dtype()), names_.dy.tensor.device());
    return {autograd::pointwise(row, operands, std::span<const Scalar>())};
  }

  struct Guard {
    Value condition;
    bool taken_if;
  };

  const ExpressionPart* at_;
  const Names& names_;
  std::vector<Guard> guards_;  ///< The choices around the current part.
};

// Whether functions exist for all calls of an expression.
bool is_known(ExpressionParts parts) {
  return std::all_of(parts.begin(), parts.end(), [](const ExpressionPart& part) {
    return part.kind != Kind::call || part.name == gelu_slope || part.name == tanh_softplus ||
           row_of(part.name) != nullptr;
  });
}

Tensor unrecorded_derivative(const Names& names, std::size_t k, std::span<const Scalar> scalars) {
  std::vector<Operand> inputs;
  std::vector<Tensor> from{names.dy.tensor, names.y.tensor};
  for (const Value& input : names.inputs) {
    inputs.push_back(input.operand());
    from.push_back(input.tensor);
  }
  const Tensor dx = ops::pointwise_backward(names.row, k, names.dy.tensor, inputs, names.y.tensor, scalars);
  return first_order_only(names.row.name, dx, from);
}

Value value_of(const Operand& operand) {
  const Tensor* tensor = operand.tensor();
  if (tensor == nullptr) return {{}, operand.number().as_double()};
  return {tensor->defined() && is_floating(tensor->dtype()) ? tensor->to(value_type(tensor->dtype())) : *tensor};
}

}  // namespace

Tensor derivative(const PointwiseRow& row, std::size_t k, const Tensor& dy, std::span<const Operand> inputs,
                  const Tensor& y, std::span<const Scalar> scalars) {
  Names names{row, value_of(dy), value_of(y), {}, {}};
  for (const Operand& input : inputs) names.inputs.push_back(value_of(input));
  for (const Scalar& scalar : scalars) names.scalars.push_back({{}, scalar.as_double()});
  if (!is_known(row.derivatives[k])) return unrecorded_derivative(names, k, scalars);
  const Value value = Computation(row.derivatives[k], names).next();
  return value.is_number() ? full(dy.shape(), value.number, value_type(dy.dtype()), dy.device()) : value.tensor;
}

}  // namespace crisol::autograd
