// Attributes of nodes: numbers, texts, and the windows of convolutions and pools.
#pragma once

#include <array>
#include <string>

#include "graph/graph.h"
#include "ops/conv/conv2d_problem.h"

namespace crisol::graph {

/// The attribute, or `otherwise` if the node does not have it.
std::int64_t integer_of(const Node& node, const char* attribute, std::int64_t otherwise);
std::string text_of(const Node& node, const char* attribute, const char* otherwise);

/// For the height and the width of an image.
struct Windows {
  std::array<std::int64_t, 2> strides{1, 1}, dilations{1, 1};
  std::array<std::int64_t, 2> pads{};  ///< Before the first row and column.
  bool is_symmetric = true;            ///< Whether there is as much padding behind the last ones.
};

/// The kernel of a pool.
std::array<std::int64_t, 2> kernel_of(const Node& pool);

/// The windows of a node whose input and kernel have these sizes.
Windows windows_of(const Node& node, const std::array<std::int64_t, 2>& input,
                   const std::array<std::int64_t, 2>& kernel);

/// The sizes of a convolution of images with these shapes.
ops::Conv2dSizes sizes_of_convolution(const Shape& x, const Shape& weight, const Shape& y, const Windows& windows);

}  // namespace crisol::graph
