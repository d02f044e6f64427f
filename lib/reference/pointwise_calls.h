// The rows of crisol/ops/pointwise.def as the functions that are made of them.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "crisol/tensor.h"

namespace crisol::reference {

/// The functions made of one row, in the table's order; each takes as many operands and numbers as the row.
struct PointwiseCalls {
  using Call = std::function<Tensor(const std::vector<Tensor>&, const std::vector<double>&)>;
  const char* name;
  std::size_t inputs;
  const char* rule;       ///< Which dtypes are taken and given: "any", "floating", "comparison" …
  const char* signature;  ///< "leaky_relu(x, slope = 0.01)"
  Call raw, differentiable;
  Call in_place;  ///< Changes the first operand; empty where the row has no such form.
  Call backward;  ///< Unary ones: of dy, and what the derivative reads.
};
const std::vector<PointwiseCalls>& pointwise_calls();

}  // namespace crisol::reference
