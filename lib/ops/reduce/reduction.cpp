#include "ops/reduce/reduction.h"

#include "base/text.h"
#include "crisol/dtype_table.h"

namespace crisol::ops {

void check_reduce_type(const ReduceRule& reduction, DType type) {
  require(reduction.types != ReduceTypes::floating || is_floating(type), reduction.op, "the tensor is ", type,
          ", must be ", TypesThat{is_floating}, "; convert it with to(dtype)");
}

DType accumulator(ReduceTypes types, DType type) {
  return !is_floating(type) && types == ReduceTypes::total ? DType::i64 : value_type(type);
}

DType result_type(ReduceTypes types, DType type) {
  if (types == ReduceTypes::truth) return DType::boolean;
  return types == ReduceTypes::total && !is_floating(type) ? DType::i64 : type;
}

}  // namespace crisol::ops
