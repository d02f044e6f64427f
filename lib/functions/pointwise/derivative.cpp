#include "functions/pointwise/derivative.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "autograd/refusal.h"
#include "base/text.h"
#include "crisol/functions/elementwise.h"
#include "functions/pointwise/pointwise.h"
#include "ops/pointwise/pointwise.h"

namespace crisol::autograd {

namespace {

namespace rows = ops::rows;
using ops::PointwiseRow;

/// Rows that derivatives need and the table lacks, because they are no functions of the library.
constexpr PointwiseRow digamma{"digamma",
                               ops::RowRule::floating,
                               1,
                               {"x"},
                               0,
                               {},
                               "digamma_(x)",
                               nullptr,
                               {"dy * trigamma_(x)"},
                               "derivative of lgamma"};

/// The row of a function that a text calls, or nullptr.
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

/// The values for which the names in a text stand.
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

/// Computes an expression of OpenCL C while it reads the text. It descends through C's levels of precedence.
class Reader {
 public:
  Reader(const char* text, const Names& names) : at_(text), names_(names) {}

  Value choice() {
    const Value condition = either();
    if (!take("?")) return condition;
    const Value first = branch(condition, true);
    expect(":");
    const Value second = branch(condition, false);
    if (condition.is_number()) return condition.number != 0 ? first : second;
    return {autograd::pointwise(rows::where, {condition.operand(), first.operand(), second.operand()})};
  }

  void expect_end() { require(*at_ == '\0', names_.row.name, "its derivative ends with \"", at_, '"'); }

 private:
  // A branch reads 1 at the elements that do not take the branch. With their own values, its derivatives could be
  // infinite there, and 0 times infinity is NaN.
  Value branch(const Value& condition, bool taken_if) {
    guards_.push_back({condition, taken_if});
    const Value value = choice();
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

  Value either() { return chain(&Reader::both, {{"|", &rows::logical_or}}); }
  Value both() { return chain(&Reader::equality, {{"&", &rows::logical_and}}); }
  Value equality() { return chain(&Reader::order, {{"==", &rows::eq}, {"!=", &rows::ne}}); }
  Value order() {
    return chain(&Reader::sum, {{"<=", &rows::le}, {">=", &rows::ge}, {"<", &rows::lt}, {">", &rows::gt}});
  }
  Value sum() { return chain(&Reader::product, {{"+", &rows::add}, {"-", &rows::sub}}); }
  Value product() { return chain(&Reader::sign, {{"*", &rows::mul}, {"/", &rows::div}}); }

  Value sign() {
    if (!take("-")) return primary();
    const Value value = sign();
    return value.is_number() ? Value{{}, -value.number} : apply(rows::neg, {value});
  }

  Value primary() {
    skip_blanks();
    if (take("(T)")) return primary();
    if (take("(")) {
      const Value value = choice();
      expect(")");
      return value;
    }
    if (std::isdigit(static_cast<unsigned char>(*at_)) != 0) {
      char* end = nullptr;
      const double number = std::strtod(at_, &end);
      at_ = *end == 'f' ? end + 1 : end;
      return {{}, number};
    }
    const char* const begin = at_;
    while (std::isalnum(static_cast<unsigned char>(*at_)) != 0 || *at_ == '_') ++at_;
    const std::string_view name(begin, static_cast<std::size_t>(at_ - begin));
    if (take("(")) return call(name);
    const Value* const value = names_.find(name);
    require(value != nullptr, names_.row.name, "its derivative reads the unknown name \"", name, '"');
    return guarded(*value);
  }

  Value call(std::string_view name) {
    std::vector<Value> arguments;
    do {
      arguments.push_back(choice());
    } while (take(","));
    expect(")");
    // A row needs at least one tensor among its operands.
    if (arguments[0].is_number()) arguments[0] = {full({}, arguments[0].number, DType::f32, names_.dy.tensor.device())};
    const Tensor& x = arguments[0].tensor;
    if (name == gelu_slope) return {0.5 * erfc(x * -0.7071067811865476) + x * exp(x * x * -0.5) * 0.3989422804014327};
    if (name == tanh_softplus) return {tanh(softplus(x))};
    return apply(*row_of(name), arguments);
  }

  struct Operator {
    const char* sign;
    const PointwiseRow* row;
  };

  // Operands of one level of precedence, from left to right.
  Value chain(Value (Reader::*next)(), std::initializer_list<Operator> operators) {
    Value left = (this->*next)();
    for (;;) {
      const auto found =
          std::find_if(operators.begin(), operators.end(), [&](const Operator& one) { return take(one.sign); });
      if (found == operators.end()) return left;
      const Value right = (this->*next)();
      left = left.is_number() && right.is_number() ? Value{{}, of_numbers(*found->row, left.number, right.number)}
                                                   : apply(*found->row, {left, right});
    }
  }

  static double of_numbers(const PointwiseRow& row, double a, double b) {
    if (&row == &rows::add) return a + b;
    if (&row == &rows::sub) return a - b;
    if (&row == &rows::mul) return a * b;
    if (&row == &rows::div) return a / b;
    if (&row == &rows::eq) return a == b;
    if (&row == &rows::ne) return a != b;
    if (&row == &rows::le) return a <= b;
    if (&row == &rows::ge) return a >= b;
    if (&row == &rows::lt) return a < b;
    if (&row == &rows::gt) return a > b;
    return &row == &rows::logical_and ? a != 0 && b != 0 : a != 0 || b != 0;
  }

  static Value apply(const PointwiseRow& row, const std::vector<Value>& values) {
    std::vector<Operand> operands;
    for (const Value& value : values) operands.push_back(value.operand());
    return {autograd::pointwise(row, operands, std::span<const Scalar>())};
  }

  void skip_blanks() {
    while (*at_ == ' ') ++at_;
  }

  bool take(std::string_view text) {
    skip_blanks();
    if (std::string_view(at_).substr(0, text.size()) != text) return false;
    at_ += text.size();
    return true;
  }

  void expect(const char* text) {
    require(take(text), names_.row.name, "its derivative lacks \"", text, "\" before \"", at_, '"');
  }

  struct Guard {
    Value condition;
    bool taken_if;
  };

  const char* at_;
  const Names& names_;
  std::vector<Guard> guards_;  ///< The choices (`?:`) around the current position in the text.
};

// Whether the Reader knows every function that a text calls.
bool is_known(std::string_view text) {
  bool known = true;
  std::string_view name;
  ops::for_each_piece(text, [&](std::string_view piece, bool is_name) {
    if (!name.empty() && piece.front() == '(')
      known = known && (name == gelu_slope || name == tanh_softplus || row_of(name) != nullptr);
    name = is_name ? piece : std::string_view();
  });
  return known;
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
  return {tensor->defined() && tensor->dtype() == DType::f16 ? tensor->to(DType::f32) : *tensor};
}

}  // namespace

Tensor derivative(const PointwiseRow& row, std::size_t k, const Tensor& dy, std::span<const Operand> inputs,
                  const Tensor& y, std::span<const Scalar> scalars) {
  Names names{row, value_of(dy), value_of(y), {}, {}};
  for (const Operand& input : inputs) names.inputs.push_back(value_of(input));
  for (const Scalar& scalar : scalars) names.scalars.push_back({{}, scalar.as_double()});
  if (!is_known(row.derivatives[k])) return unrecorded_derivative(names, k, scalars);
  Reader reader(row.derivatives[k], names);
  const Value value = reader.choice();
  reader.expect_end();
  return value.is_number() ? full(dy.shape(), value.number, DType::f32, dy.device()) : value.tensor;
}

}  // namespace crisol::autograd
