// The rows of crisol/ops/pointwise.def: as data with their references, and as the functions made from them.
#pragma once

#include <vector>

#include "ops/pointwise/pointwise_row.h"
#include "reference/elementwise.h"
#include "reference/pointwise_calls.h"

namespace crisol::testing {

/// A row and its reference.
struct RowUnderTest {
  const ops::PointwiseRow* row;
  const reference::Elementwise* reference;
};

/// All rows of the table.
const std::vector<RowUnderTest>& table_rows();

using reference::pointwise_calls;
using reference::PointwiseCalls;

}  // namespace crisol::testing
