// The function of a reduction: a row of the table in reduce.cpp, and the dtypes that follow from it.
#pragma once

#include <cstdint>

#include "base/interned_text.h"
#include "crisol/tensor.h"
#include "reduce/kinds.h"

namespace crisol::ops {

/// How elements are combined: KIND of the kernels.
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

/// Which dtypes a reduction takes, in which it computes, and which it gives.
enum class ReduceTypes : std::uint8_t {
  floating,   ///< Takes floating-point numbers, computes in their value type, gives the same dtype.
  total,      ///< Floating-point numbers as in `floating`. Integers and bool are computed in long, and give i64.
  unrounded,  ///< As `total`, but gives the type in which it computes.
  element,    ///< Takes any dtype, gives the same dtype.
  truth,      ///< Takes any dtype, gives bool.
};

/// One reduction. The texts are expressions in OpenCL C of a scalar or vector type T. POW(x, y) is x^y, and `real` is
/// float or double.
struct ReduceRule {
  const char* op;
  Combine combine;
  ReduceTypes types;
  InternedText map = "x";  ///< The mapped element: an expression of x (the element) and `parameter`.
  /// The result: an expression of a (the combined value), `count` (the number of elements) and `parameter`.
  InternedText finish = "a";
  bool needs_elements = false;
};

/// The reduction of ops::sum for this dtype. For floats, its parameter is 1.
const ReduceRule& sum_reduction(DType type);

/// Throws for dtypes that the reduction refuses.
void check_reduce_type(const ReduceRule& reduction, DType type);

inline bool finds_positions(Combine combine) { return combine >= Combine::arg_max; }

/// The type in which elements of `type` are combined.
DType accumulator(ReduceTypes types, DType type);
DType result_type(ReduceTypes types, DType type);

/// How many numbers of the accumulator's type the state of a combination has.
inline int components(Combine combine) {
  return combine == Combine::moments ? 3 : combine == Combine::log_sum_exp ? 2 : 1;
}

}  // namespace crisol::ops
