#include "ops/reduce/reduction.h"

#include "base/text.h"

namespace crisol::ops {

void check_reduce_type(const ReduceRule& reduction, DType type) {
  require(reduction.types != ReduceTypes::floating || is_floating(type), reduction.op, "the tensor is ", type,
          ", must be f32 or f16; convert it with to(dtype)");
}

DType accumulator(ReduceTypes types, DType type) {
  if (is_floating(type)) return DType::f32;
  return type == DType::i64 || types == ReduceTypes::total ? DType::i64 : DType::i32;
}

DType result_type(ReduceTypes types, DType type) {
  if (types == ReduceTypes::truth) return DType::boolean;
  return types == ReduceTypes::total && !is_floating(type) ? DType::i64 : type;
}

}  // namespace crisol::ops
