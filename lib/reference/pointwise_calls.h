// The functions that are generated from the rows of crisol/ops/pointwise.def.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "crisol/tensor.h"

namespace crisol::reference {

/// The functions that are generated from one row. Each takes as many operands and numbers as the row has. The list is
/// in the table's order.
struct PointwiseCalls {
  using Call = std::function<Tensor(const std::vector<Tensor>&, const std::vector<double>&)>;
  const char* name;
  std::size_t inputs;
  const char* rule;       ///< The accepted dtypes and the dtype of the result: "any", "floating", "comparison" …
  const char* signature;  ///< For example "leaky_relu(x, slope = 0.01)".
  Call raw, differentiable;
  Call in_place;  ///< The form that changes the first operand. Empty if the row has no such form.
  Call backward;  ///< For rows with one input: the backward op, which takes dy and the values that the derivative
                  /// reads.
};
const std::vector<PointwiseCalls>& pointwise_calls();

}  // namespace crisol::reference
