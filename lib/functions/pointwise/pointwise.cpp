#include "functions/pointwise/pointwise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "autograd/autocast.h"
#include "autograd/call.h"
#include "autograd/in_place.h"
#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/ops/copy.h"
#include "functions/gradients.h"
#include "functions/pointwise/derivative.h"
#include "functions/traced/traced.h"
#include "ops/pointwise/pointwise.h"

namespace crisol::autograd {

namespace {

using ops::PointwiseRow;
namespace rows = ops::rows;

constexpr std::size_t max_inputs = PointwiseRow::max_inputs;

/// The data about one input that backward needs.
struct Input {
  bool is_tensor = false;
  Shape shape, broadcast;  ///< `broadcast` is the shape with which the input broadcasts. It differs from `shape` only
                           /// for RowRule::channel.
  DType dtype = DType::f32;
  Saved saved{Tensor()};  ///< Set if a derivative reads the input.
  Scalar number = 0;
};

bool wants_gradient(const Operand& operand) { return operand.tensor() != nullptr && operand.tensor()->requires_grad(); }

/// The record of one call.
struct Record {
  Record(const PointwiseRow& of, std::span<const Operand> operands, std::span<const Scalar> numbers,
         const Tensor& result);

  const PointwiseRow* row;
  std::array<Input, max_inputs> inputs;
  SavedResult y{Tensor()};
  std::vector<Scalar> scalars;

  Tensor recorded_derivative(std::size_t k, const Tensor& dy, std::array<Operand, max_inputs> operands) const;

  Tensor gradient(std::size_t k, const Tensor& dy) const {
    const Input& input = inputs[k];
    const bool sums = dy.shape() != input.broadcast;
    // Sums of f16 are computed in f32, because f16 is too inexact.
    const Tensor wide = sums ? dy.to(value_type(dy.dtype())) : dy;
    std::array<Operand, max_inputs> operands{0, 0, 0};
    for (std::size_t i = 0; i < row->input_count; ++i)
      operands[i] = inputs[i].is_tensor ? Operand(inputs[i].saved.get()) : Operand(inputs[i].number);
    const std::span<const Operand> all_inputs(operands.data(), row->input_count);
    const Tensor all = grad_enabled() ? recorded_derivative(k, wide, operands)
                                      : ops::pointwise_backward(*row, k, wide, all_inputs, y.get(), scalars);
    const Tensor own = sums ? sum_to(all, input.broadcast) : all;
    return (input.shape == input.broadcast ? own : own.reshape(input.shape)).to(input.dtype);
  }
};

Record::Record(const PointwiseRow& of, std::span<const Operand> operands, std::span<const Scalar> numbers,
               const Tensor& result)
    : row(&of), scalars(numbers.begin(), numbers.end()) {
  unsigned read = 0;
  for (std::size_t k = 0; k < operands.size(); ++k)
    if (wants_gradient(operands[k]) && row->has_derivative(k)) read |= row->derivative_operands(k);
  if ((read & PointwiseRow::reads_y) != 0) y = SavedResult(result);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    Input& input = inputs[i];
    const Tensor* x = operands[i].tensor();
    if (x == nullptr) {
      input.number = operands[i].number();
      continue;
    }
    input.is_tensor = true;
    input.dtype = x->dtype();
    input.shape = input.broadcast = x->shape();
    if (row->rule == ops::RowRule::channel && i == 1 && operands[0].tensor() != nullptr)
      input.broadcast = ops::channel_shape(operands[0].tensor()->shape(), x->shape());
    if ((read >> i & 1) != 0) input.saved = Saved(*x);
  }
}

// The derivative is recorded, too. Its rows take inputs in their `broadcast` shape.
Tensor Record::recorded_derivative(std::size_t k, const Tensor& dy, std::array<Operand, max_inputs> operands) const {
  std::array<Tensor, max_inputs> reshaped;
  for (std::size_t i = 0; i < row->input_count; ++i) {
    const Tensor* x = operands[i].tensor();
    if (x == nullptr || !x->defined() || inputs[i].shape == inputs[i].broadcast) continue;
    reshaped[i] = x->reshape(inputs[i].broadcast);
    operands[i] = Operand(reshaped[i]);
  }
  return derivative(*row, k, dy, std::span(operands.data(), row->input_count), y.get(), scalars);
}

auto backward_of(Record kept) {
  return [record = std::move(kept)](const Tensor& dy, Needs needs) {
    Gradients gradients;
    for (std::size_t i = 0; i < record.row->input_count; ++i) {
      if (!record.inputs[i].is_tensor) continue;
      const bool wanted = needs[gradients.size()] && record.row->has_derivative(i);
      gradients.push_back(wanted ? record.gradient(i, dy) : Tensor());
    }
    return gradients;
  };
}

/// The name of the rule under Autocast. A number divided by a tensor has the rule of reciprocal(), as in PyTorch.
const char* rule_name(const PointwiseRow& row, std::span<const Operand> given) {
  const bool is_reciprocal = std::string_view(row.name) == "div" && given.front().tensor() == nullptr;
  return is_reciprocal ? "reciprocal" : row.name;
}

/// The result for whole numbers and a number that their type does not hold, if the result depends only on the side of
/// the number on which all elements are: a comparison, or a minimum or maximum that is the tensor.
std::optional<Tensor> one_sided(const PointwiseRow& row, std::span<const Operand> given) {
  if (given.size() != 2 || (given[0].tensor() == nullptr) == (given[1].tensor() == nullptr)) return std::nullopt;
  const bool number_is_second = given[1].tensor() == nullptr;
  const Tensor& x = *given[number_is_second ? 0 : 1].tensor();
  const Scalar number = given[number_is_second ? 1 : 0].number();
  if (!x.defined() || is_floating(x.dtype()) || is_floating(number.dtype())) return std::nullopt;
  const DType type = value_type(x.dtype());
  if (ops::fits(number, type)) return std::nullopt;
  const bool below = number.as_double() > 0;  // The elements are below the number.
  const PointwiseRow* equal_row = nullptr;    // Its result for x and the lowest number of the type is the result.
  if (&row == &rows::eq || &row == &rows::ne) {
    equal_row = &row == &rows::eq ? &rows::lt : &rows::ge;
  } else if (&row == &rows::lt || &row == &rows::le) {
    equal_row = below == number_is_second ? &rows::ge : &rows::lt;
  } else if (&row == &rows::gt || &row == &rows::ge) {
    equal_row = below == number_is_second ? &rows::lt : &rows::ge;
  } else if (below ? &row == &rows::minimum : &row == &rows::maximum) {
    equal_row = &rows::maximum;
  }
  if (equal_row == nullptr) return std::nullopt;
  const bool has_sign = kind_of(type) == DTypeKind::integer;
  const Scalar lowest = has_sign ? static_cast<std::int64_t>(-std::ldexp(1.0, dtype_row(type).digits)) : 0;
  return autograd::pointwise(*equal_row, {x, lowest});
}

}  // namespace

Tensor pointwise(const PointwiseRow& of, std::span<const Operand> given, std::span<const Scalar> scalars) {
  if (const std::optional<Tensor> result = one_sided(of, given)) return *result;
  if (const Autocasts casts(rule_name(of, given)); casts) {
    std::array<Tensor, max_inputs> converted;
    std::array<Operand, max_inputs> operands{0, 0, 0};
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (const Tensor* const x = given[i].tensor()) converted[i] = casts(*x);
      operands[i] = given[i].tensor() != nullptr ? Operand(converted[i]) : given[i];
    }
    return autograd::pointwise(of, std::span<const Operand>(operands.data(), given.size()), scalars);
  }
  const ops::RowCall called = ops::row_call(of, given);
  const PointwiseRow& row = called.row;
  const std::span<const Operand> inputs = called.inputs;
  return call(
      row.name, inputs, ops::pointwise(row, inputs, scalars),
      [&](Trace& trace, const Tensor& y) { traced::pointwise(trace, row, inputs, scalars, y); },
      [&](const Tensor& y) { return backward_of(Record(row, inputs, scalars, y)); });
}

void pointwise_in_place(const char* op, const PointwiseRow& row, const Tensor& x, std::initializer_list<Operand> others,
                        std::initializer_list<Scalar> scalars) {
  std::array<Operand, max_inputs> inputs{x, 0, 0};
  std::copy(others.begin(), others.end(), inputs.begin() + 1);
  const std::span<const Operand> all(inputs.data(), 1 + others.size());
  const auto result = [&] { return autograd::pointwise(row, all, {scalars.begin(), scalars.size()}).to(x.dtype()); };
  if (noted_write(op, x, result, [&] { ops::pointwise_into(op, row, x, all, scalars); })) return;
  if (!records_write(op, x, std::any_of(others.begin(), others.end(), wants_gradient)))
    return ops::pointwise_into(op, row, x, all, scalars);
  const Overwrites overwrites(x);
  const Tensor y = autograd::pointwise(row, all, std::span<const Scalar>(scalars.begin(), scalars.size()));
  require(is_floating(y.dtype()) && y.shape() == x.shape(), op, "the result of shape ", y.shape(), " and dtype ",
          y.dtype(), " cannot be put into a tensor of shape ", x.shape(), " and dtype ", x.dtype());
  write_result(op, x, y.to(x.dtype()));
}

}  // namespace crisol::autograd
