// TreeEnsemble of the domain ai.onnx.ml. Its attributes refer to nodes by position, where older ops use names.
#include <cmath>

#include "base/text.h"
#include "onnx/ops/domains/estimators.h"
#include "onnx/ops/domains/tree_nodes.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

namespace {

using ops::ScoreKind;
using ops::ScoreTransform;
using ops::TreeCombine;

/// Trees whose attributes refer to nodes and leaves by their positions in two lists. Each reference to a leaf gets its
/// own copy of the leaf, because a tree with one leaf refers to it twice.
class PlacedTrees {
 public:
  std::vector<TreeNode> nodes;
  std::vector<std::vector<TreeWeight>> weights;
  std::vector<std::size_t> roots;

  explicit PlacedTrees(Call& call)
      : features_(call.integers("nodes_featureids")),
        missing_(call.integers("nodes_missing_value_tracks_true")),
        modes_(numbers_of(call, "nodes_modes")),
        splits_(reals_of(call, "nodes_splits")),
        members_(reals_of(call, "membership_values")),
        targets_(call.integers("leaf_targetids")),
        weights_(reals_of(call, "leaf_weights")),
        count_(features_.size()) {
    require_count("nodes_modes", modes_.size());
    require_count("nodes_splits", splits_.size());
    if (!missing_.empty()) require_count("nodes_missing_value_tracks_true", missing_.size());
    require(weights_.size() == targets_.size(), "onnx", "there are ", weights_.size(), " leaf_weights and ",
            targets_.size(), " leaf_targetids");
    call.tensor("nodes_hitrates");  // For profiling.
    for (std::size_t i = 0; i < count_; ++i) nodes.push_back(node_at(i));
    weights.resize(count_);
    add_ways(call.integers("nodes_truenodeids"), call.integers("nodes_trueleafs"), &TreeNode::if_true, "nodes_true");
    add_ways(call.integers("nodes_falsenodeids"), call.integers("nodes_falseleafs"), &TreeNode::if_false,
             "nodes_false");
    for (const std::int64_t root : call.integers("tree_roots")) roots.push_back(position("tree_roots", root, count_));
  }

 private:
  static std::vector<double> reals_of(Call& call, const char* name) {
    const graph::Datum stored = call.tensor(name);
    return stored.defined() ? onnx::reals_of(stored, Device()) : std::vector<double>();
  }
  static Numbers numbers_of(Call& call, const char* name) {
    const graph::Datum stored = call.tensor(name);
    return stored.defined() ? stored.numbers() : Numbers();
  }
  void require_count(const char* name, std::size_t count) const {
    require(count == count_, "onnx", "attribute ", name, " has ", count, " elements for ", count_, " nodes");
  }
  static std::size_t position(const char* name, std::int64_t at, std::size_t count) {
    require(at >= 0 && static_cast<std::size_t>(at) < count, "onnx", "attribute ", name, " has ", at, " of ", count);
    return static_cast<std::size_t>(at);
  }

  TreeNode node_at(std::size_t i) {
    TreeNode node;
    node.name = std::to_string(i);
    require(modes_[i] >= 0 && modes_[i] <= static_cast<std::int64_t>(TreeMode::member), "onnx", "node ", i,
            " has the mode ", modes_[i]);
    node.mode = static_cast<TreeMode>(modes_[i]);
    node.nan_is_true = !missing_.empty() && missing_[i] != 0;
    node.feature = features_[i];
    node.threshold = splits_[i];
    if (node.mode == TreeMode::member) node.members = next_members();
    return node;
  }

  /// The sets are stored one after another, in the order of the nodes. NaN ends a set.
  std::vector<double> next_members() {
    std::vector<double> set;
    while (next_member_ < members_.size() && !std::isnan(members_[next_member_]))
      set.push_back(members_[next_member_++]);
    ++next_member_;
    return set;
  }

  void add_ways(const Numbers& ids, const Numbers& are_leaves, std::size_t TreeNode::*way, const char* name) {
    require(ids.size() == count_ && are_leaves.size() == count_, "onnx", "the attributes ", name, "nodeids and ", name,
            "leafs have ", ids.size(), " and ", are_leaves.size(), " elements for ", count_, " nodes");
    for (std::size_t i = 0; i < count_; ++i) {
      if (are_leaves[i] == 0) {
        nodes[i].*way = position(name, ids[i], count_);
        continue;
      }
      const std::size_t leaf = position(name, ids[i], targets_.size());
      nodes[i].*way = nodes.size();
      nodes.push_back({.is_leaf = true, .name = concat("leaf ", leaf)});
      weights.push_back({{targets_[leaf], static_cast<float>(weights_[leaf])}});
    }
  }

  const Numbers features_, missing_, modes_;
  const std::vector<double> splits_, members_;
  const Numbers targets_;
  const std::vector<double> weights_;
  const std::size_t count_;
  std::size_t next_member_ = 0;
};

graph::Run tree_ensemble(Call& call) {
  call.check_counts(1, 1);
  call.require_rank(0, 1, 2);
  constexpr ScoreTransform transforms[] = {ScoreTransform::none, ScoreTransform::softmax, ScoreTransform::logistic,
                                           ScoreTransform::softmax_zero, ScoreTransform::probit};
  const std::int64_t columns = call.integer("n_targets", 1), aggregate = call.integer("aggregate_function", 1),
                     transform = call.integer("post_transform", 0);
  require(columns >= 1, "onnx", "n_targets is ", columns);
  require(aggregate >= 0 && aggregate <= 3, "onnx", "aggregate_function is ", aggregate, ", 0 to 3 expected");
  require(transform >= 0 && transform <= 4, "onnx", "post_transform is ", transform, ", 0 to 4 expected");
  const PlacedTrees trees(call);
  ops::ScoreRule rule{.kind = ScoreKind::each, .transform = transforms[transform]};
  if (aggregate == 0) rule.scale = 1.0 / static_cast<double>(std::max<std::size_t>(trees.roots.size(), 1));
  const TreeCombine combine = aggregate == 2   ? TreeCombine::least
                              : aggregate == 3 ? TreeCombine::largest
                                               : TreeCombine::sum;
  return targets_of(call, pack_trees(trees.nodes, trees.weights, trees.roots, columns, combine), {}, rule);
}

}  // namespace

std::vector<Row> tree_ensemble_rows() { return {{"TreeEnsemble", 5, newest_ml_version, tree_ensemble, ml_domain}}; }

}  // namespace crisol::onnx
