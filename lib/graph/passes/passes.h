// Rewritings of a graph whose values have fixed dtypes and sizes (see specialise.h). Each leaves the graph's outputs
// the same, except for rounding.
#pragma once

#include <cstddef>
#include <span>

#include "graph/graph.h"

namespace crisol::graph {

/// Each returns how many nodes it removed or joined.
std::size_t remove_dead_nodes(Graph& graph, Device device);
/// Removes nodes whose output is their input: casts to the same type, reshapes to the same shape.
std::size_t remove_identities(Graph& graph, Device device);
/// Replaces the nodes that write a layer norm as means, differences and a root by LayerNormalization.
std::size_t find_layer_norms(Graph& graph, Device device);
/// Replaces products of queries with keys, softmax of them and the product with values by Attention, where the device
/// has a kernel for all of it.
std::size_t find_attention(Graph& graph, Device device);
/// Moves transposes behind ops that compute each element by itself, and joins transposes that follow each other. In a
/// model with channels last, this cancels the transposes around convolutions.
std::size_t move_transposes(Graph& graph, Device device);
/// Puts a scale and a shift of each channel, from BatchNormalization or from sums and products with constants, into the
/// weight and the bias of the convolution before it. Another BatchNormalization becomes a product and a sum.
std::size_t fold_affine(Graph& graph, Device device);
/// Keeps the channels of images in blocks of a vector from convolution to convolution, on CPUs: (N, C, H, W) becomes
/// (N, C / c, H, W, c). Nodes that reorder the values stay where another node needs them. See
/// functions/conv/conv_blocks.h.
std::size_t block_channels(Graph& graph, Device device);
/// Joins nodes that compute each element by itself, so that one kernel computes all of them.
std::size_t fuse_elements(Graph& graph, Device device);
/// Joins depthwise convolutions of channels in blocks with the pointwise convolutions of their results: both run in one
/// pass over rows. A function of single elements may be between them.
std::size_t join_separable(Graph& graph, Device device);
/// Replaces products of rows that are 1 in one place and 0 elsewhere by lookups in the other factor. The table
/// takes in the ops of single elements behind the product.
std::size_t find_lookups(Graph& graph, Device device);
/// Joins products of one value with several matrices, and the biases behind these products. The number of products that
/// were joined.
std::size_t join_products(Graph& graph, Device device);
/// Lets the kernels of products and convolutions compute the ops of single elements that follow.
std::size_t fuse_epilogues(Graph& graph, Device device);

struct Pass {
  const char* name;
  std::size_t (*apply)(Graph& graph, Device device);
};

/// All of them, in the order in which they run.
std::span<const Pass> all_passes();

/// Steps of making a program that are no rewritings of its graph. They can be turned off like passes.
constexpr const char* folding = "fold_constants";  ///< Nodes of constants are computed when the program is made.
constexpr const char* packing = "pack_weights";    ///< Kernels read copies of weights in the layout that they like.
constexpr const char* capturing = "capture";       ///< The device queues the commands of a run again.

/// False if CRISOL_PASSES=-NAME,… names the pass or the step. Throws invalid_argument if the variable names another
/// one.
bool is_enabled(const char* pass);

}  // namespace crisol::graph
