// Graphs for any size of the batch.
#pragma once

#include <cstdint>
#include <string>

#include "graph/graph.h"

namespace crisol::graph {

struct BatchSizes {
  std::int64_t first, second;  ///< The sizes of the batch in the two graphs.
  std::string name;
  int axis;  ///< The axis of the batch in the first input.
};

/// Makes `first` right for any size of the batch, by comparing it with a graph of the same function for another size.
/// A size in a shape that is the batch gets its name. A number that is a multiple of the batch is computed from the
/// first input's shape. Throws invalid_argument for graphs that differ in another way.
void make_symbolic(Graph& first, const Graph& second, const BatchSizes& batch);

}  // namespace crisol::graph
