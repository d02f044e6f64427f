// Reductions of a tensor, by a row of the table.
#pragma once

#include "crisol/tensor.h"
#include "ops/reduce/reduction.h"

namespace crisol::ops {

struct ReduceResult {
  Tensor values;
  Tensor positions;  ///< i64; undefined unless the reduction finds positions.
};

/// New tensors for a result, with the dtypes that the reduction gives for elements of `type`.
ReduceResult empty_result(const ReduceRule& reduction, DType type, const Shape& shape, Device device);

/// The tensors that a caller gives for the results, or nullptr for new ones.
struct ReduceInto {
  const Tensor *values = nullptr, *positions = nullptr;
};

/// Reduces the axes of a tensor, or all axes if `axes` is empty.
ReduceResult reduce(const ReduceRule& reduction, const Tensor& x, const Shape& axes, bool keepdim, double parameter = 0,
                    const ReduceInto& into = {});

}  // namespace crisol::ops
