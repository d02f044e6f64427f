#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/functions/elementwise.h"
#include "functions/pointwise/pointwise.h"
#include "ops/pointwise/pointwise_row.h"

namespace crisol {

namespace {

// This row is not in the table, because rows of the table compute halves in float. The next number in float differs
// from the next half.
constexpr ops::PointwiseRow row{
    "nextafter",
    ops::RowRule::floating,
    2,
    {"a", "b"},
    0,
    {},
    "nextafter_(a, b)",
    nullptr,
    {ops::parts_of([] { return ops::RowExpression("dy"); }), ops::parts_of([] { return ops::RowExpression(0); })},
    ""};

}  // namespace

Tensor nextafter(const Operand& a, const Operand& b) {
  for (const Operand* operand : {&a, &b}) {
    const Tensor* x = operand->tensor();
    const DType dtype = x != nullptr && x->defined() ? x->dtype() : DType::f32;
    require(!is_half(dtype), row.name, "an operand is ", dtype, "; convert to f32");
  }
  return autograd::pointwise(row, {a, b});
}

}  // namespace crisol
