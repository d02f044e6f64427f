// dtypes of rows: PyTorch's promotion.
#include <algorithm>

#include "base/text.h"
#include "crisol/dtype_table.h"
#include "ops/numbers.h"
#include "ops/pointwise/pointwise_row.h"

namespace crisol::ops {

namespace {

// The category's rank: bool < whole < floating.
int category(DType dtype) noexcept { return is_floating(dtype) ? 2 : is_whole(dtype) ? 1 : 0; }

struct Promotion {
  bool any = false;
  DType dtype = DType::boolean;
};

// The promotion of two kinds: `upper`, unless `lower` has a higher category.
Promotion join(const Promotion& upper, const Promotion& lower) noexcept {
  if (!upper.any) return lower;
  if (!lower.any || category(upper.dtype) == 2) return upper;
  if (upper.dtype == DType::boolean || category(lower.dtype) == 2)
    return {true, promote_types(upper.dtype, lower.dtype)};
  return upper;
}

DType floating(DType dtype) noexcept { return is_floating(dtype) ? dtype : default_dtype(); }

}  // namespace

OperandType promoted(std::span<const OperandType> operands) {
  Promotion of_kind[3];
  OperandKind highest = OperandKind::number;
  for (const OperandType& operand : operands) {
    Promotion& one = of_kind[static_cast<std::size_t>(operand.kind)];
    const bool is_number = operand.kind == OperandKind::number;
    const DType dtype = is_number && is_floating(operand.dtype) ? default_dtype() : operand.dtype;
    // Numbers of at least 2^63 are u64. No type holds them and negative numbers, so all numbers must fit u64.
    const bool are_whole = is_number && is_whole(dtype) && is_whole(one.dtype);
    const DType joint = are_whole && dtype != one.dtype ? DType::u64 : promote_types(one.dtype, dtype);
    one = {true, one.any ? joint : dtype};
    highest = std::max(highest, operand.kind);
  }
  const Promotion all = join(of_kind[2], join(of_kind[1], of_kind[0]));
  return {all.dtype, highest};
}

RowTypes types_of(const PointwiseRow& row, std::span<const OperandType> operands) {
  if (row.rule == RowRule::fill) {
    const DType into = operands[0].dtype, value = operands[2].dtype;
    // Each number is true or false.
    const bool is_test = into == DType::boolean && operands[2].kind == OperandKind::number;
    require(is_test || category(value) <= category(into), row.name, row.inputs[2], " is ", value,
            " and cannot be put into ", into, " without loss");
    return {into, into};
  }
  if (row.rule == RowRule::choice) operands = operands.subspan(1);
  if (row.rule == RowRule::limits) operands = operands.first(row.input_count);
  const DType joint = promoted(operands).dtype;
  switch (row.rule) {
    case RowRule::any:
    case RowRule::choice: return {joint, joint};
    case RowRule::number:
    case RowRule::limits: require_numbers(row.name, joint); return {joint, joint};
    case RowRule::counted: {
      const DType counted = joint == DType::boolean ? DType::i64 : joint;
      return {counted, counted};
    }
    case RowRule::whole:
      require(category(joint) == 1, row.name, "takes whole numbers (", TypesThat{is_whole}, "), not ", joint);
      return {joint, joint};
    case RowRule::floating:
    case RowRule::channel: return {floating(joint), floating(joint)};
    case RowRule::comparison: return {joint, DType::boolean};
    case RowRule::test: return {floating(joint), DType::boolean};
    case RowRule::logical: return {DType::boolean, DType::boolean};
    case RowRule::fill: break;
  }
  return {joint, joint};
}

}  // namespace crisol::ops
