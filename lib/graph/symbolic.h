// Graphs for any batch size.
#pragma once

#include <cstdint>
#include <string>

#include "graph/graph.h"

namespace crisol::graph {

struct BatchSizes {
  std::int64_t first, second;  ///< The batch sizes of the two graphs.
  std::string name;
  int axis;  ///< The batch axis of the first input.
};

/// Makes `first` right for any batch size, by comparing it with a graph of the same function for another batch size. A
/// size in a shape that is the batch size gets its name. A number that is a multiple of the batch size is computed from
/// the first input's shape. Throws invalid_argument if the graphs differ in another way.
void make_symbolic(Graph& first, const Graph& second, const BatchSizes& batch);

}  // namespace crisol::graph
