#include "onnx/ops/domains/tree_nodes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/text.h"

namespace crisol::onnx {

namespace {

using ops::PackedTrees;

/// The largest float that is at most t.
float at_most(double t) {
  const auto f = static_cast<float>(t);
  return static_cast<double>(f) > t ? std::nextafterf(f, -std::numeric_limits<float>::infinity()) : f;
}

/// The largest float below t. NaN for -infinity, because no float is below it, and no float is at most NaN.
float below(double t) {
  if (t == -std::numeric_limits<double>::infinity()) return std::numeric_limits<float>::quiet_NaN();
  const float f = at_most(t);
  return static_cast<double>(f) < t ? f : std::nextafterf(f, -std::numeric_limits<float>::infinity());
}

/// Whether all questions can be asked as x < threshold.
bool all_strict(const std::vector<TreeNode>& nodes) {
  return std::all_of(nodes.begin(), nodes.end(), [](const TreeNode& node) {
    return node.is_leaf || ((node.mode == TreeMode::less || node.mode == TreeMode::geq) &&
                            static_cast<double>(static_cast<float>(node.threshold)) == node.threshold);
  });
}

class Packer {
 public:
  Packer(const std::vector<TreeNode>& nodes, const std::vector<std::vector<TreeWeight>>& weights, PackedTrees& packed)
      : nodes_(nodes), weights_(weights), packed_(packed), is_seen_(nodes.size()) {}

  void add(std::size_t root) {
    packed_.roots.push_back(next_place());
    pending_.push_back({root, {}, 1});
    while (!pending_.empty()) {
      Pending next = std::move(pending_.back());
      pending_.pop_back();
      add_node(next);
    }
  }
  void end_lists() { packed_.lists.push_back(static_cast<std::int32_t>(packed_.weights.size())); }

 private:
  /// A node that is not placed yet, and the slots where its position must be written.
  struct Pending {
    std::size_t node;
    std::vector<std::size_t> slots;
    std::int64_t depth;
  };

  std::int32_t next_place() const { return static_cast<std::int32_t>(packed_.nodes.size()); }

  /// Adds a question "x <= threshold", and returns the slots of its two successors.
  std::size_t add_question(std::int64_t feature, float threshold, bool nan_is_true) {
    constexpr std::size_t most = std::size_t{1} << 30;
    require(packed_.nodes.size() < most, "onnx", "the trees have more than ", most / 4, " nodes");
    const auto bits = static_cast<std::uint32_t>(feature) | (nan_is_true ? 0x80000000U : 0U);
    packed_.nodes.insert(packed_.nodes.end(),
                         {static_cast<std::int32_t>(bits), std::bit_cast<std::int32_t>(threshold), 0, 0});
    return packed_.nodes.size() - 2;
  }

  void add_leaf(std::size_t node, std::int64_t depth) {
    packed_.depth = std::max(packed_.depth, depth);
    const std::int32_t place = next_place();
    const std::vector<TreeWeight>& list = weights_[node];
    const auto start = static_cast<std::int32_t>(packed_.lists.size());
    const float alone = list.empty() ? -0.0F : list.front().weight + 0.0F;
    packed_.nodes.insert(packed_.nodes.end(),
                         {0, packed_.single ? std::bit_cast<std::int32_t>(alone) : start, place, place});
    if (packed_.single) return;
    packed_.lists.push_back(static_cast<std::int32_t>(packed_.weights.size()));
    for (const TreeWeight& one : list) {
      require(one.target >= 0 && one.target < packed_.columns, "onnx", "node ", nodes_[node].name,
              " has a weight for target ", one.target, " of ", packed_.columns);
      packed_.targets.push_back(static_cast<std::int32_t>(one.target));
      packed_.weights.push_back(one.weight + 0.0F);  // -0 becomes 0: it has a special meaning for kernels.
    }
  }

  void add_node(const Pending& next) {
    const TreeNode& node = nodes_[next.node];
    require(!is_seen_[next.node], "onnx", "two nodes of a tree lead to node ", node.name);
    is_seen_[next.node] = true;
    for (const std::size_t slot : next.slots) packed_.nodes[slot] = next_place();
    if (node.is_leaf) return add_leaf(next.node, next.depth);
    require(node.feature >= 0 && node.feature <= std::numeric_limits<std::int32_t>::max() - 1, "onnx", "node ",
            node.name, " reads feature ", node.feature);
    packed_.features = std::max(packed_.features, node.feature + 1);
    std::vector<std::size_t> if_true, if_false;
    add_questions(node, if_true, if_false);
    const std::int64_t depth = next.depth + 1 + static_cast<std::int64_t>(node.members.size());
    pending_.push_back({node.if_false, std::move(if_false), depth});
    pending_.push_back({node.if_true, std::move(if_true), depth});
  }

  void add_questions(const TreeNode& node, std::vector<std::size_t>& if_true, std::vector<std::size_t>& if_false) {
    const auto ask = [&](float threshold, bool is_turned) {
      // "x >= t" is asked as "x < t" with exchanged answers. Both comparisons are false for NaN, so the answer for NaN
      // is exchanged too.
      const std::size_t slot = add_question(node.feature, threshold, node.nan_is_true != is_turned);
      (is_turned ? if_false : if_true).push_back(slot);
      (is_turned ? if_true : if_false).push_back(slot + 1);
    };
    const double t = node.threshold;
    switch (node.mode) {
      case TreeMode::leq: return ask(at_most(t), false);
      case TreeMode::greater: return ask(at_most(t), true);
      case TreeMode::less: return ask(packed_.strict ? static_cast<float>(t) : below(t), false);
      case TreeMode::geq: return ask(packed_.strict ? static_cast<float>(t) : below(t), true);
      case TreeMode::equal: return add_members(node, {t}, node.nan_is_true, if_true, if_false);
      case TreeMode::unequal: return add_members(node, {t}, false, if_false, if_true);  // NaN is unequal to t.
      case TreeMode::member: return add_members(node, node.members, node.nan_is_true, if_true, if_false);
    }
  }

  /// Asks two questions for each number v, in ascending order: x <= v? If so, x < v?
  void add_members(const TreeNode& node, std::vector<double> members, bool nan_is_member,
                   std::vector<std::size_t>& if_member, std::vector<std::size_t>& otherwise) {
    members.erase(std::remove_if(members.begin(), members.end(),
                                 [](double v) { return static_cast<double>(static_cast<float>(v)) != v; }),
                  members.end());
    std::sort(members.begin(), members.end());
    if (members.empty()) members.push_back(std::numeric_limits<double>::quiet_NaN());  // No number equals NaN.
    for (std::size_t i = 0; i < members.size(); ++i) {
      const std::size_t least = add_question(node.feature, static_cast<float>(members[i]), nan_is_member && i == 0);
      packed_.nodes[least] = next_place();
      const std::size_t inner = add_question(node.feature, below(members[i]), false);
      otherwise.push_back(inner);
      if_member.push_back(inner + 1);
      if (i + 1 < members.size())
        packed_.nodes[least + 1] = next_place();
      else
        otherwise.push_back(least + 1);
    }
  }

  const std::vector<TreeNode>& nodes_;
  const std::vector<std::vector<TreeWeight>>& weights_;
  PackedTrees& packed_;
  std::vector<bool> is_seen_;
  std::vector<Pending> pending_;
};

}  // namespace

PackedTrees pack_trees(const std::vector<TreeNode>& nodes, const std::vector<std::vector<TreeWeight>>& weights,
                       const std::vector<std::size_t>& roots, std::int64_t columns, ops::TreeCombine combine) {
  require(!roots.empty(), "onnx", "there is no tree");
  PackedTrees packed;
  packed.columns = columns;
  packed.combine = combine;
  packed.strict = all_strict(nodes);
  packed.single = columns == 1;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::size_t count = weights[i].size();
    const bool is_alone = count == 1 || (count == 0 && combine == ops::TreeCombine::sum);
    if (nodes[i].is_leaf && !(is_alone && (count == 0 || weights[i][0].target == 0))) packed.single = false;
  }
  Packer packer(nodes, weights, packed);
  for (const std::size_t root : roots) packer.add(root);
  packer.end_lists();
  return packed;
}

}  // namespace crisol::onnx
