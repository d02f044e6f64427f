// The rows of crisol/ops/pointwise.def as calls, in the order of reference::elementwise_rows().
#pragma once

#include <functional>
#include <vector>

#include "crisol/tensor.h"

namespace crisol::testing {

struct PointwiseCalls {
  using Scalars = std::vector<double>;
  const char* name;
  std::function<Tensor(const std::vector<Tensor>&, const Scalars&)> forward;  ///< The raw op.
  /// The raw backward for each input, from dy, the inputs and the result.
  std::vector<std::function<Tensor(const Tensor&, const std::vector<Tensor>&, const Tensor&, const Scalars&)>> backward;
  std::function<Tensor(const std::vector<Tensor>&, const Scalars&)> function;  ///< The differentiable one.
};
const std::vector<PointwiseCalls>& pointwise_calls();

struct ComparisonCalls {
  const char* name;
  std::function<Tensor(const Tensor&, const Tensor&)> with_tensor;
  std::function<Tensor(const Tensor&, double)> with_scalar;
};
const std::vector<ComparisonCalls>& comparison_calls();

}  // namespace crisol::testing
