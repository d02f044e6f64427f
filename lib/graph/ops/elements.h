// Nodes of functions of single elements.
#pragma once

#include <vector>

#include "crisol/scalar.h"
#include "graph/graph.h"

namespace crisol::graph {

/// The row of a traced node; null for other nodes.
const ops::PointwiseRow* row_of(const Node& node);
/// The numbers of the node's row.
std::vector<Scalar> scalars_of(const Node& node);
/// The run of a row with these numbers.
Run run_of_row(const ops::PointwiseRow& row, const std::vector<Scalar>& scalars = {});
/// The run of a node that has a row.
Run run_of_elements(const Node& node);

}  // namespace crisol::graph
