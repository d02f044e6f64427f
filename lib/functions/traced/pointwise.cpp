// Functions of single elements.
#include "functions/traced/traced.h"
#include "tensor/impl.h"

namespace crisol::traced {

void pointwise(Trace& trace, const ops::PointwiseRow& row, std::span<const Operand> inputs,
               std::span<const Scalar> scalars, const Tensor& y) {
  std::vector<ops::OperandType> types;
  types.reserve(inputs.size() + scalars.size());
  for (const Operand& operand : inputs) types.push_back(ops::type_of(operand));
  for (const Scalar& scalar : scalars) types.push_back({scalar.dtype(), ops::OperandKind::number});
  const DType computed = ops::types_of(row, types).computed;
  std::vector<Value> values;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const DType wanted = row.is_condition(i) ? DType::boolean : computed;
    const Tensor* x = inputs[i].tensor();
    Value value = x == nullptr ? trace.number(inputs[i].number(), wanted, y.device())
                               : cast(trace, trace.of(*x), x->dtype(), wanted);
    // A vector of slopes belongs to axis 1.
    const Tensor* first = inputs[0].tensor();
    if (row.rule == ops::RowRule::channel && i == 1 && x != nullptr && x->dim() == 1 && first->dim() > 2) {
      std::vector<std::int64_t> channels(static_cast<std::size_t>(first->dim() - 1), 1);
      channels[0] = x->size(0);
      value = trace.node(Op::reshape, {value, trace.numbers(channels)});
    }
    values.push_back(value);
  }
  Trace::Attributes attributes{{"row", &row}};
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    const Scalar& number = scalars[i];
    Trace::Attribute& attribute = attributes[row.scalars[i]];
    if (number.dtype() == DType::f32)
      attribute = number.as_double();
    else
      attribute = number.as_int();
  }
  trace.bind(y, trace.node(op_of_row(row.name), values, attributes));
}

}  // namespace crisol::traced
