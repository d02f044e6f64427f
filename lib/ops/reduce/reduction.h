// The function of a reduction: a row of the table in reduce.cpp, and the dtypes that follow from it.
#pragma once

#include <cstdint>

#include "base/interned_text.h"
#include "crisol/tensor.h"
#include "reduce/kinds.h"

namespace crisol::ops {

/// KIND of the kernels.
enum class Combine : std::uint8_t {
  sum = KIND_SUM,
  prod = KIND_PROD,
  max = KIND_MAX,
  min = KIND_MIN,
  log_sum_exp = KIND_LOG_SUM_EXP,
  moments = KIND_MOMENTS,
  arg_max = KIND_ARG_MAX,
  arg_min = KIND_ARG_MIN
};

/// The dtypes that a reduction takes, computes in and gives.
enum class ReduceTypes : std::uint8_t {
  floating,  ///< f32 and f16, computed in float; gives the same.
  total,     ///< f32 and f16 as above. Integers and bool are computed in long and give i64.
  element,   ///< Any; gives the same.
  truth,     ///< Any; gives bool.
};

/// One reduction. The texts are OpenCL C, expressions of a scalar or vector type T.
struct ReduceRule {
  const char* op;
  Combine combine;
  ReduceTypes types;
  InternedText map = "x";  ///< An expression of x, an element, and `parameter`.
  /// An expression of a, the combined value, `count`, the number of elements, and `parameter`.
  InternedText finish = "a";
  bool needs_elements = false;
};

/// The reduction of ops::sum for that dtype. For floats, its parameter is 1.
const ReduceRule& sum_reduction(DType type);

/// Refuses dtypes that the reduction does not take.
void check_reduce_type(const ReduceRule& reduction, DType type);

inline bool finds_positions(Combine combine) { return combine >= Combine::arg_max; }

/// The type that elements of `type` are combined in.
DType accumulator(ReduceTypes types, DType type);
DType result_type(ReduceTypes types, DType type);

/// Numbers of the accumulator's type that the state of a combination consists of.
inline int components(Combine combine) {
  return combine == Combine::moments ? 3 : combine == Combine::log_sum_exp ? 2 : 1;
}

}  // namespace crisol::ops
