// Ensembles of decision trees. Only the importer of ONNX files uses them.
#pragma once

#include <cstdint>
#include <vector>

#include "crisol/tensor.h"

namespace crisol::ops {

/// How the weights of several leaves are combined.
enum class TreeCombine : std::uint8_t { sum, least, largest };

/// Trees in the layout of cl_kernels/estimators/tree_sums.cl. Every successor is a node, no path has a cycle, features
/// are at least 0, and each target is below `columns`.
struct PackedTrees {
  std::vector<std::int32_t> nodes;  ///< Four numbers for each node. The position of the first one names the node.
  std::vector<std::int32_t> roots;  ///< The first node of each tree.
  bool strict = false;              ///< Nodes compare x < threshold instead of x <= threshold.
  bool single = false;              ///< Whether there is one target, and each leaf stores its only weight in its node.
  std::vector<std::int32_t> lists;  ///< Where each leaf's list begins, and where the last list ends.
  std::vector<std::int32_t> targets;
  std::vector<float> weights;
  std::int64_t columns = 1;   ///< The number of sums of a row.
  std::int64_t features = 0;  ///< The smallest number of features that a row must have.
  std::int64_t depth = 1;     ///< The number of nodes on the longest path.
  TreeCombine combine = TreeCombine::sum;
};

/// PackedTrees on a device.
struct DeviceTrees {
  DeviceTrees() = default;
  DeviceTrees(const PackedTrees& packed, Device device);

  Tensor nodes, roots, lists, targets, weights;
  std::int64_t columns = 1, features = 0, depth = 1;
  bool strict = false, single = false;
  bool nan_is_true = false;  ///< Whether some node sends NaN to its node for true.
  TreeCombine combine = TreeCombine::sum;
};

/// The sums (rows, columns) for x (rows, features), f32. A sum without a weight is -0 with `marks_absent`, otherwise 0.
/// Throws invalid_argument for another dtype or rank, and for fewer features than the trees read.
Tensor tree_sums(const Tensor& x, const DeviceTrees& trees, bool marks_absent);

}  // namespace crisol::ops
