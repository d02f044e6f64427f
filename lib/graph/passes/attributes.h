// Attributes of nodes: numbers, texts, and the windows of convolutions and pools.
#pragma once

#include <array>
#include <string>

#include "graph/graph.h"
#include "ops/conv/conv2d_problem.h"

namespace crisol::graph {

/// The attribute's value, or `otherwise` if the node does not have the attribute.
std::int64_t integer_of(const Node& node, const char* attribute, std::int64_t otherwise);
std::vector<std::int64_t> integers_of(const Node& node, const char* attribute,
                                      const std::vector<std::int64_t>& otherwise = {});
std::string text_of(const Node& node, const char* attribute, const char* otherwise);

/// The windows of a convolution or a pool, for the height and the width of an image.
struct Windows {
  std::array<std::int64_t, 2> strides{1, 1}, dilations{1, 1};
  std::array<std::int64_t, 2> pads{};  ///< The padding before the first row and column.
  bool is_symmetric = true;            ///< Whether the padding after the last row and column is the same.
};

/// The kernel sizes of a pool.
std::array<std::int64_t, 2> kernel_of(const Node& pool);

/// The windows of a node, for an input and a kernel of these sizes.
Windows windows_of(const Node& node, const std::array<std::int64_t, 2>& input,
                   const std::array<std::int64_t, 2>& kernel);

/// The sizes of a convolution, for images and a weight of these shapes.
ops::Conv2dSizes sizes_of_convolution(const Shape& x, const Shape& weight, const Shape& y, const Windows& windows);

}  // namespace crisol::graph
