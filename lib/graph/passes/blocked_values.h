// Values of a graph in two layouts: their own, and channels in blocks (functions/conv/conv_blocks.h).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace crisol::graph {

/// Takes the nodes of a graph one after the other. An image (N, C, H, W) may exist in its own layout, in blocks, or in
/// both. A missing layout is made before the first node that needs it.
class BlockedValues {
 public:
  BlockedValues(Graph& graph, std::int64_t block) : graph_(graph), block_(block) {}

  /// Whether the value is a tensor (N, C, H, W) that kernels compute in f32.
  bool is_image(int value) const;
  bool is_in_blocks(int value) const { return in_blocks_.count(value) > 0; }
  /// The value that is the image in blocks.
  int in_blocks(int value);
  /// The value that is the image in blocks of another size.
  int in_blocks_of(int value, std::int64_t block);

  /// Makes the image in its own layout, if it exists only in blocks.
  void need_plain(int value);
  /// Adds a node without changes.
  void add(Node node);
  /// Adds a node that makes the image `y` in blocks. Its inputs are in blocks.
  void add_blocked(Node node, int y);
  /// Replaces the graph's nodes by the new nodes.
  void finish();

 private:
  void add_reorder(Op op, int from, int to, Run run);

  Graph& graph_;
  const std::int64_t block_;
  std::vector<Node> nodes_;
  std::map<int, int> in_blocks_;  ///< For each image, the same image in blocks.
  std::set<int> only_in_blocks_;  ///< Images that do not exist in their own layout yet.
};

}  // namespace crisol::graph
