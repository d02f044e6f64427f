// TreeEnsembleClassifier and TreeEnsembleRegressor of the domain ai.onnx.ml.
#include <map>
#include <set>

#include "base/text.h"
#include "onnx/ops/domains/estimators.h"
#include "onnx/ops/domains/labels.h"
#include "onnx/ops/domains/tree_nodes.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;
using ops::ScoreKind;
using ops::ScoreRule;
using ops::ScoreTransform;

TreeMode mode_of(const std::string& name) {
  const std::pair<const char*, TreeMode> all[] = {{"BRANCH_LEQ", TreeMode::leq},  {"BRANCH_LT", TreeMode::less},
                                                  {"BRANCH_GTE", TreeMode::geq},  {"BRANCH_GT", TreeMode::greater},
                                                  {"BRANCH_EQ", TreeMode::equal}, {"BRANCH_NEQ", TreeMode::unequal}};
  for (const auto& [known, mode] : all)
    if (name == known) return mode;
  fail(ErrorCode::invalid_argument, "onnx", "a node has the mode ", name.substr(0, 40));
}

/// The trees of TreeEnsembleClassifier and TreeEnsembleRegressor, read from their attributes. A node is named by its
/// tree and its number in the tree.
struct NamedTrees {
  std::vector<TreeNode> nodes;
  std::vector<std::vector<TreeWeight>> weights;
  std::vector<std::size_t> roots;
  std::set<std::int64_t> targets;  ///< The targets that have weights.
  bool all_positive = true;        ///< Whether no weight is below 0.

  /// The names of the attributes for the weights.
  struct Names {
    const char *trees, *nodes, *targets, *weights;
  };

  NamedTrees(Call& call, const Names& names) {
    read_nodes(call);
    read_weights(call, names);
  }

 private:
  using Id = std::pair<std::int64_t, std::int64_t>;

  static void require_count(const char* name, std::size_t count, std::size_t nodes) {
    require(count == nodes, "onnx", "attribute ", name, " has ", count, " elements for ", nodes, " nodes");
  }

  void read_nodes(Call& call) {
    const Numbers trees = call.integers("nodes_treeids"), ids = call.integers("nodes_nodeids"),
                  features = call.integers("nodes_featureids"), if_true = call.integers("nodes_truenodeids"),
                  if_false = call.integers("nodes_falsenodeids"),
                  missing = call.integers("nodes_missing_value_tracks_true");
    const std::vector<std::string> modes = call.texts("nodes_modes");
    const std::vector<double> values = call.reals("nodes_values");
    call.reals("nodes_hitrates");  // For profiling.
    const std::size_t count = ids.size();
    require_count("nodes_treeids", trees.size(), count);
    require_count("nodes_featureids", features.size(), count);
    require_count("nodes_truenodeids", if_true.size(), count);
    require_count("nodes_falsenodeids", if_false.size(), count);
    require_count("nodes_modes", modes.size(), count);
    require_count("nodes_values", values.size(), count);
    if (!missing.empty()) require_count("nodes_missing_value_tracks_true", missing.size(), count);
    for (std::size_t i = 0; i < count; ++i)
      require(place_.emplace(Id{trees[i], ids[i]}, i).second, "onnx", "node ", name_of({trees[i], ids[i]}),
              " is there twice");
    for (std::size_t i = 0; i < count; ++i) {
      TreeNode& node = nodes.emplace_back();
      node.name = name_of({trees[i], ids[i]});
      node.is_leaf = modes[i] == "LEAF";
      if (i == 0 || trees[i] != trees[i - 1]) roots.push_back(i);
      if (node.is_leaf) continue;
      node.mode = mode_of(modes[i]);
      node.nan_is_true = !missing.empty() && missing[i] != 0;
      node.feature = features[i];
      node.threshold = values[i];
      node.if_true = place_of({trees[i], if_true[i]});
      node.if_false = place_of({trees[i], if_false[i]});
    }
  }

  void read_weights(Call& call, const Names& names) {
    const Numbers trees = call.integers(names.trees), ids = call.integers(names.nodes),
                  all_targets = call.integers(names.targets);
    const std::vector<double> values = call.reals(names.weights);
    require(trees.size() == values.size() && ids.size() == values.size() && all_targets.size() == values.size(), "onnx",
            "there are ", values.size(), " weights, ", trees.size(), " trees of weights, ", ids.size(),
            " nodes of weights and ", all_targets.size(), " targets of weights");
    weights.resize(nodes.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      weights[place_of({trees[i], ids[i]})].push_back({all_targets[i], static_cast<float>(values[i])});
      targets.insert(all_targets[i]);
      if (values[i] < 0) all_positive = false;
    }
  }

  static std::string name_of(const Id& id) { return concat(id.second, " of tree ", id.first); }
  std::size_t place_of(const Id& id) const {
    const auto at = place_.find(id);
    require(at != place_.end(), "onnx", "there is no node ", name_of(id));
    return at->second;
  }

  std::map<Id, std::size_t> place_;
};

Run tree_regressor(Call& call) {
  call.check_counts(1, 1);
  call.require_rank(0, 1, 2);
  const std::string aggregate = call.text_of("aggregate_function", {"SUM", "AVERAGE", "MIN", "MAX"});
  const std::int64_t columns = call.integer("n_targets", 1);
  require(columns >= 1, "onnx", "n_targets is ", columns);
  const NamedTrees trees(call, {"target_treeids", "target_nodeids", "target_ids", "target_weights"});
  ScoreRule rule{ScoreKind::each, transform_of(call)};
  if (aggregate == "AVERAGE") rule.scale = 1.0 / static_cast<double>(std::max<std::size_t>(trees.roots.size(), 1));
  const ops::TreeCombine combine = aggregate == "MIN"   ? ops::TreeCombine::least
                                   : aggregate == "MAX" ? ops::TreeCombine::largest
                                                        : ops::TreeCombine::sum;
  std::vector<float> base = floats_of(call, "base_values");
  require(base.empty() || static_cast<std::int64_t>(base.size()) == columns, "onnx", base.size(), " base_values for ",
          columns, " targets");
  return targets_of(call, pack_trees(trees.nodes, trees.weights, trees.roots, columns, combine), std::move(base), rule);
}

/// The rules of ONNX Runtime if there are two classes, and only one class has weights.
ScoreKind kind_of(std::size_t classes, const NamedTrees& trees) {
  if (classes != 2 || trees.targets.size() != 1) return ScoreKind::each;
  if (*trees.targets.begin() == 0) return trees.all_positive ? ScoreKind::share : ScoreKind::sign;
  return trees.all_positive ? ScoreKind::second_share : ScoreKind::second_sign;
}

Run tree_classifier(Call& call) {
  call.check_counts(1, 1, 2);
  call.require_rank(0, 1, 2);
  const ClassLabels all = class_labels(call, "classlabels_int64s", "classlabels_strings");
  const Numbers& labels = all.numbers;
  NamedTrees trees(call, {"class_treeids", "class_nodeids", "class_ids", "class_weights"});
  const ScoreRule rule{.kind = kind_of(labels.size(), trees), .transform = transform_of(call), .marks_absent = true};
  std::vector<float> base = floats_of(call, "base_values");
  std::int64_t columns = static_cast<std::int64_t>(labels.size());
  require(base.empty() || base.size() == labels.size() || (base.size() == 1 && rule.kind != ScoreKind::each), "onnx",
          base.size(), " base_values for ", labels.size(), " classes");
  if (rule.kind != ScoreKind::each) {
    const std::int64_t only = *trees.targets.begin();
    require(only >= 0 && only < columns, "onnx", "a weight is for class ", only, " of ", columns);
    for (auto& list : trees.weights)
      for (TreeWeight& weight : list) weight.target = 0;
    if (base.size() == 2) base = {base[static_cast<std::size_t>(only)]};
    columns = 1;
  }
  call.gives(0, all.value());
  call.gives(1, value_of(DType::f32, 2));
  const Ensemble run(pack_trees(trees.nodes, trees.weights, trees.roots, columns, {}), std::move(base), labels, rule);
  return [run](const Data& in, Device device) {
    const ops::Scores scores = run(in[0].tensor(device), device);
    return Data{scores.labels, scores.values};
  };
}

}  // namespace

std::vector<Row> tree_rows() {
  constexpr std::int64_t newest = newest_ml_version;
  return {
      {"TreeEnsembleClassifier", 1, newest, tree_classifier, ml_domain},
      {"TreeEnsembleRegressor", 1, newest, tree_regressor, ml_domain},
  };
}

}  // namespace crisol::onnx
