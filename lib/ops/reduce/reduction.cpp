#include "ops/reduce/reduction.h"

#include "base/text.h"
#include "crisol/dtype_table.h"

namespace crisol::ops {

void check_reduce_type(const ReduceRule& reduction, DType type) {
  require(reduction.types != ReduceTypes::floating || is_floating(type), reduction.op, "the tensor is ", type,
          ", must be ", TypesThat{is_floating}, "; convert it with to(dtype)");
}

namespace {

/// The type of a sum of whole numbers or bools: u64 for u64, and i64 for the others, because it holds all their values.
DType total_type(DType type) { return value_type(type) == DType::u64 ? DType::u64 : DType::i64; }

}  // namespace

DType accumulator(ReduceTypes types, DType type) {
  const bool is_total = types == ReduceTypes::total || types == ReduceTypes::unrounded;
  return !is_floating(type) && is_total ? total_type(type) : value_type(type);
}

DType result_type(ReduceTypes types, DType type) {
  if (types == ReduceTypes::truth) return DType::boolean;
  if (types == ReduceTypes::unrounded) return accumulator(types, type);
  return types == ReduceTypes::total && !is_floating(type) ? total_type(type) : type;
}

}  // namespace crisol::ops
