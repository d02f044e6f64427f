// Ensembles of decision trees. Only the importer of ONNX files uses them.
#pragma once

#include <cstdint>
#include <vector>

#include "crisol/tensor.h"

namespace crisol::ops {

/// How the weights of the leaves become one number.
enum class TreeCombine : std::uint8_t { sum, least, largest };

/// Trees as cl_kernels/estimators/tree_sums.cl reads them. Every successor is a node, no path has a circle, features
/// are at least 0, and each target is below `columns`.
struct PackedTrees {
  std::vector<std::int32_t> nodes;  ///< Four for each node.
  std::vector<std::int32_t> roots;  ///< The first node of each tree.
  bool strict = false;              ///< Nodes ask for x < threshold, and not for x <= threshold.
  bool single = false;              ///< One target, and each leaf has one weight, in its node.
  std::vector<std::int32_t> lists;  ///< Where the list of each leaf begins, and the end of the last one.
  std::vector<std::int32_t> targets;
  std::vector<float> weights;
  std::int64_t columns = 1;   ///< Sums of a row.
  std::int64_t features = 0;  ///< The fewest that a row must have.
  std::int64_t depth = 1;     ///< Nodes on the longest path.
  TreeCombine combine = TreeCombine::sum;
};

/// The same on a device.
struct DeviceTrees {
  DeviceTrees() = default;
  DeviceTrees(const PackedTrees& packed, Device device);

  Tensor nodes, roots, lists, targets, weights;
  std::int64_t columns = 1, features = 0, depth = 1;
  bool strict = false, single = false;
  TreeCombine combine = TreeCombine::sum;
};

/// The sums (rows, columns) for x (rows, features), f32. With `marks_absent`, a sum without a weight is -0, and else 0.
/// Throws invalid_argument for another dtype or rank, and for fewer features than the trees read.
Tensor tree_sums(const Tensor& x, const DeviceTrees& trees, bool marks_absent);

}  // namespace crisol::ops
