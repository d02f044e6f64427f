// Rewritings of a graph whose values have fixed dtypes and sizes (see specialise.h). They do not change the graph's
// outputs, except for rounding. The caller turns recording off, because passes compute constants.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "graph/graph.h"

namespace crisol::graph {

/// Each function returns how many nodes it removed or joined.
std::size_t remove_dead_nodes(Graph& graph, Device device);
/// Removes nodes whose output is equal to their input, such as casts to the same type, reshapes to the same shape
/// and products with 1.
std::size_t remove_identities(Graph& graph, Device device);
/// Finds layer norms that are written as means, differences and a root. Replaces their nodes by LayerNormalization.
std::size_t find_layer_norms(Graph& graph, Device device);
/// Computes powers with the exponents 2, 3 and -1 as products and quotients.
std::size_t simplify_powers(Graph& graph, Device device);
/// Finds products of queries with keys, followed by softmax and by the product with values. Replaces them by Attention
/// if the device has one kernel for all of it.
std::size_t find_attention(Graph& graph, Device device);
/// Moves transposes to after ops that compute each element by itself, and joins consecutive transposes. In a model with
/// channels last, this cancels the transposes around convolutions.
std::size_t move_transposes(Graph& graph, Device device);
/// Finds a scale and a shift of each channel after a convolution: BatchNormalization, or sums and products with
/// constants. Puts them into the convolution's weight and bias. Other BatchNormalizations become a product and a sum.
std::size_t fold_affine(Graph& graph, Device device);
/// On CPUs, keeps the channels of images in blocks of one vector from convolution to convolution: (N, C, H, W) becomes
/// (N, C / c, H, W, c). Nodes that convert the layout remain where another node needs it. See
/// functions/conv/conv_blocks.h.
std::size_t block_channels(Graph& graph, Device device);
/// Lets quantisation subtract the zero point from its numbers, if only products of pairs use the numbers. They are
/// pairs then.
std::size_t centre_numbers(Graph& graph, Device device);
/// Joins products of whole numbers with the casts to f32 that follow, so that epilogues may follow.
std::size_t join_casts(Graph& graph, Device device);
/// Computes chains of ops of single elements from bytes to bytes on all 256 bytes, and looks the results up.
std::size_t tabulate_bytes(Graph& graph, Device device);
/// Joins nodes that compute each element by itself, so that one kernel computes all of them.
std::size_t fuse_elements(Graph& graph, Device device);
/// Joins depthwise convolutions of channels in blocks with the pointwise convolutions that follow: both run in one pass
/// over rows. A function of single elements may be between them.
std::size_t join_separable(Graph& graph, Device device);
/// Finds products with one-hot rows (1 in one place and 0 elsewhere). Replaces them by lookups in the other factor. The
/// ops of single elements after the product are computed on the table.
std::size_t find_lookups(Graph& graph, Device device);
/// Joins products of one value with several matrices, and the biases after these products. Returns how many products
/// were joined.
std::size_t join_products(Graph& graph, Device device);
/// Lets the kernels of products and convolutions also compute the ops of single elements that follow.
std::size_t fuse_epilogues(Graph& graph, Device device);

struct Pass {
  const char* name;
  std::size_t (*apply)(Graph& graph, Device device);
};

/// Runs a pass that lets nodes become dead, then removes them. Returns how many nodes the graph lost.
std::size_t nodes_saved_by(const std::function<void()>& rewrite, Graph& graph, Device device);

/// All passes, in the order in which they run.
std::span<const Pass> all_passes();

/// Steps of making a program that do not rewrite its graph. They can be turned off like passes.
constexpr const char* folding = "fold_constants";  ///< Computes nodes of constants when the program is made.
constexpr const char* packing = "pack_weights";    ///< Lets kernels read copies of weights in their preferred layout.
constexpr const char* capturing = "capture";       ///< Lets the device queue the commands of a run again.

/// False if CRISOL_PASSES=-NAME,… names the pass or the step. Throws invalid_argument if the variable names something
/// else.
bool is_enabled(const char* pass);

}  // namespace crisol::graph
