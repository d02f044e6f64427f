// The rows of crisol/ops/pointwise.def as data with their references, and as the functions that are made of them.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "crisol/tensor.h"
#include "ops/pointwise_row.h"
#include "reference/elementwise.h"

namespace crisol::testing {

/// A row and what it must compute.
struct RowUnderTest {
  const ops::PointwiseRow* row;
  const reference::Elementwise* reference;
};

/// All rows of the table.
const std::vector<RowUnderTest>& table_rows();

/// The functions made of one row, in the table's order; each takes as many operands and numbers as the row.
struct PointwiseCalls {
  using Call = std::function<Tensor(const std::vector<Tensor>&, const std::vector<double>&)>;
  const char* name;
  const char* signature;  ///< "leaky_relu(x, slope = 0.01)"
  Call raw, differentiable;
  Call in_place;  ///< Changes the first operand; empty where the row has no such form.
  Call backward;  ///< Unary ones: of dy, and what the derivative reads.
};
const std::vector<PointwiseCalls>& pointwise_calls();

}  // namespace crisol::testing
