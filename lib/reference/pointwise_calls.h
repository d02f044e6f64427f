// The functions that are made of the rows of crisol/ops/pointwise.def.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "crisol/tensor.h"

namespace crisol::reference {

/// The functions made of one row. Each takes as many operands and numbers as the row. The list is in the table's order.
struct PointwiseCalls {
  using Call = std::function<Tensor(const std::vector<Tensor>&, const std::vector<double>&)>;
  const char* name;
  std::size_t inputs;
  const char* rule;       ///< The accepted dtypes and the dtype of the result: "any", "floating", "comparison" …
  const char* signature;  ///< For example "leaky_relu(x, slope = 0.01)".
  Call raw, differentiable;
  Call in_place;  ///< Changes the first operand; empty if the row has no such form.
  Call backward;  ///< For rows with one input: takes dy and the values that the derivative reads.
};
const std::vector<PointwiseCalls>& pointwise_calls();

}  // namespace crisol::reference
