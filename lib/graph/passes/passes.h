// Rewritings of a graph whose values have fixed dtypes and sizes (see specialise.h). Each leaves the graph's outputs
// the same, except for rounding.
#pragma once

#include <cstddef>
#include <span>

#include "graph/graph.h"

namespace crisol::graph {

/// Each returns how many nodes it removed or joined.
std::size_t remove_dead_nodes(Graph& graph, Device device);
/// Puts the scale and the shift of a BatchNormalization into the weight and the bias of the convolution before it.
/// Another BatchNormalization becomes a product and a sum of each element.
std::size_t fold_batch_norm(Graph& graph, Device device);
/// Joins nodes that compute each element by itself, so that one kernel computes all of them.
std::size_t fuse_elements(Graph& graph, Device device);
/// Lets the kernels of products and convolutions compute what follows for each element.
std::size_t fuse_epilogues(Graph& graph, Device device);

struct Pass {
  const char* name;
  std::size_t (*apply)(Graph& graph, Device device);
};

/// All of them, in the order in which they run.
std::span<const Pass> all_passes();

/// False if CRISOL_PASSES=-NAME,… names the pass. Throws invalid_argument if it names one that does not exist.
bool is_enabled(const char* pass);

}  // namespace crisol::graph
