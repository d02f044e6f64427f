// The nodes of decision trees in a file, and their conversion to the trees that kernels read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ops/estimators/trees.h"

namespace crisol::onnx {

/// The question that a node asks about a feature. The numbers are those of TreeEnsemble.
enum class TreeMode : std::uint8_t { leq, less, geq, greater, equal, unequal, member };

/// A node or a leaf. Successors and leaves are given by their positions in lists.
struct TreeNode {
  TreeMode mode = TreeMode::leq;
  bool is_leaf = false;
  bool nan_is_true = false;
  std::int64_t feature = 0;
  double threshold = 0;
  std::vector<double> members = {};  ///< For TreeMode::member.
  std::size_t if_true = 0, if_false = 0;
  std::string name = {};  ///< For messages.
};

struct TreeWeight {
  std::int64_t target;
  float weight;
};

/// Packs the trees that begin at `roots`. `weights` has a list for each node, but only those of leaves are used. Throws
/// invalid_argument if a path reaches a node twice, and for a feature or a target out of range.
ops::PackedTrees pack_trees(const std::vector<TreeNode>& nodes, const std::vector<std::vector<TreeWeight>>& weights,
                            const std::vector<std::size_t>& roots, std::int64_t columns, ops::TreeCombine combine);

}  // namespace crisol::onnx
