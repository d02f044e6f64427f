// TreeEnsemble of ai.onnx.ml 5.
#include <cmath>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/onnx_op.h"

using namespace crisol;
using namespace crisol::testing;
namespace of = crisol::testing::onnx_file;
using doctest::Contains;
using of::attribute;
using of::Proto;
using of::Sizes;

namespace {

using Reals = std::vector<float>;

Proto reals(const char* name, const Reals& values) {
  return of::tensor_attribute(name, of::raw_tensor("", of::f32, {static_cast<std::int64_t>(values.size())}, values));
}

/// One node for each list element. A way is a node, or -1 - k for leaf k.
struct Nodes {
  std::vector<std::uint8_t> modes;
  Sizes features;
  Reals splits;
  Sizes if_true, if_false;
  Sizes roots = {0};
  Reals members = {};
  Sizes missing = {};
};

OnnxOp ensemble(const Nodes& nodes, const Sizes& targets, const Reals& weights, std::vector<Proto> more = {}) {
  const auto ways = [&](const Sizes& list, const char* ids, const char* leaves) {
    Sizes positions, are_leaves;
    for (const std::int64_t way : list) {
      positions.push_back(way < 0 ? -1 - way : way);
      are_leaves.push_back(way < 0 ? 1 : 0);
    }
    more.push_back(attribute(ids, positions));
    more.push_back(attribute(leaves, are_leaves));
  };
  ways(nodes.if_true, "nodes_truenodeids", "nodes_trueleafs");
  ways(nodes.if_false, "nodes_falsenodeids", "nodes_falseleafs");
  const auto count = static_cast<std::int64_t>(nodes.modes.size());
  more.push_back(of::tensor_attribute("nodes_modes", of::raw_tensor("", of::u8, {count}, nodes.modes)));
  more.insert(more.end(), {reals("nodes_splits", nodes.splits), reals("leaf_weights", weights),
                           attribute("nodes_featureids", nodes.features), attribute("tree_roots", nodes.roots),
                           attribute("leaf_targetids", targets)});
  if (!nodes.members.empty()) more.push_back(reals("membership_values", nodes.members));
  if (!nodes.missing.empty()) more.push_back(attribute("nodes_missing_value_tracks_true", nodes.missing));
  return {"TreeEnsemble", more, 25, "ai.onnx.ml", {"y"}, 5};
}

Tensor column(const std::vector<double>& x) { return tensor_of(x, {static_cast<std::int64_t>(x.size()), 1}); }

}  // namespace

TEST_CASE("tree ensemble: every mode of a node, and NaN") {
  const std::vector<double> x{1, std::nextafterf(1.5F, 0), 1.5, std::nextafterf(1.5F, 2), 2, -INFINITY, INFINITY, NAN};
  const std::vector<double> truths[] = {{1, 1, 1, 0, 0, 1, 0, 0}, {1, 1, 0, 0, 0, 1, 0, 0}, {0, 0, 1, 1, 1, 0, 1, 0},
                                        {0, 0, 0, 1, 1, 0, 1, 0}, {0, 0, 1, 0, 0, 0, 0, 0}, {1, 1, 0, 1, 1, 1, 1, 1}};
  for (std::uint8_t mode = 0; mode < 6; ++mode)
    for (const std::int64_t missing : {0, 1}) {
      CAPTURE(static_cast<int>(mode));
      CAPTURE(missing);
      std::vector<double> truth = truths[mode];
      if (missing == 1) truth.back() = 1;
      const OnnxOp op = ensemble({{mode}, {0}, {1.5F}, {-1}, {-2}, {0}, {}, {missing}}, {0, 0}, {1, 0});
      check_close(run_op(op, {column(x)})[0], {8, 1}, truth, {0});
    }
}

TEST_CASE("tree ensemble: members of sets, for one node and several") {
  // Node 0: x0 in {1, 4, -2.5}? Node 1: x1 in {}? Node 2: x1 in {3}?
  const Nodes nodes{{6, 6, 6}, {0, 1, 1}, {0, 0, 0}, {-1, -2, -3}, {1, 2, -4}, {0}, {1, 4, -2.5F, NAN, NAN, 3, NAN}};
  const OnnxOp op = ensemble(nodes, {0, 0, 0, 0}, {10, 20, 30, 40});
  const Tensor x = tensor_of({1, 0, 4, 0, -2.5, 0, 2, 3, 2, 4, NAN, 3, INFINITY, NAN}, {7, 2});
  check_close(run_op(op, {x})[0], {7, 1}, {10, 10, 10, 30, 40, 30, 40}, {0});
}

TEST_CASE("tree ensemble: targets, aggregates and transforms") {
  // Tree 0: x < 0 ? leaf 0 : (x <= 2 ? leaf 1 : leaf 2). Tree 1: x > 1 ? leaf 3 : leaf 4. Tree 2 is leaf 5.
  const Nodes nodes{{1, 0, 3, 0}, {0, 0, 0, 0}, {0, 2, 1, 0}, {-1, -2, -4, -6}, {1, -3, -5, -6}, {0, 2, 3}};
  const auto run = [&](std::vector<Proto> more) {
    more.push_back(attribute("n_targets", std::int64_t{2}));
    return run_op(ensemble(nodes, {0, 1, 0, 1, 0, 1}, {1, 2, 3, -5, 6, 0.5F}, std::move(more)),
                  {column({-1, 0.5, 3})})[0];
  };
  const auto number = [](const char* name, std::int64_t value) { return attribute(name, value); };
  check_close(run({}), {3, 2}, {7, 0.5, 6, 2.5, 3, -4.5}, {0});
  check_close(run({number("aggregate_function", 0)}), {3, 2}, {7 / 3.0, 0.5 / 3, 2, 2.5 / 3, 1, -1.5}, {2});
  check_close(run({number("aggregate_function", 2)}), {3, 2}, {1, 0.5, 6, 0.5, 3, -5}, {0});
  check_close(run({number("aggregate_function", 3)}), {3, 2}, {6, 0.5, 6, 2, 3, 0.5}, {0});
  const auto logistic = [](double v) { return 1 / (1 + std::exp(-v)); };
  check_close(run({number("post_transform", 2)}), {3, 2},
              {logistic(7), logistic(0.5), logistic(6), logistic(2.5), logistic(3), logistic(-4.5)}, {8});
  check_close(run({number("post_transform", 1)}), {3, 2},
              {logistic(6.5), logistic(-6.5), logistic(3.5), logistic(-3.5), logistic(7.5), logistic(-7.5)}, {8});
}

TEST_CASE("tree ensemble: the sums of both halves of the trees are added") {
  for (const std::int64_t trees : {1, 2, 9, 20, 50}) {
    CAPTURE(trees);
    Nodes nodes;
    nodes.roots.clear();
    const float weight = 1.0F / static_cast<float>(trees);
    float halves[2] = {};
    for (std::int64_t i = 0; i < trees; ++i) {
      nodes.modes.push_back(0);
      nodes.features.push_back(0);
      nodes.splits.push_back(0);
      nodes.if_true.push_back(-1);
      nodes.if_false.push_back(-1);
      nodes.roots.push_back(i);
      halves[2 * i >= trees ? 1 : 0] += weight;
    }
    const Tensor y = run_op(ensemble(nodes, {0}, {weight}), {column({1, 2})})[0];
    CHECK(y.to_vector<float>() == Reals{halves[0] + halves[1], halves[0] + halves[1]});
  }
}

TEST_CASE("tree ensemble: files of strangers are refused") {
  const auto refused = [](const Nodes& nodes, const Sizes& targets = {0, 0}, std::vector<Proto> more = {}) {
    return refusal_of_op(ensemble(nodes, targets, {1, 2}, std::move(more)), {ones({1, 1})});
  };
  CHECK(refused({{7}, {0}, {0}, {-1}, {-2}}) == Contains("node 0 has the mode 7"));
  CHECK(refused({{0}, {0}, {0}, {3}, {-2}}) == Contains("attribute nodes_true has 3 of 1"));
  CHECK(refused({{0}, {0}, {0}, {-1}, {-3}}) == Contains("attribute nodes_false has 2 of 2"));
  CHECK(refused({{0}, {0}, {0}, {0}, {-2}}) == Contains("two nodes of a tree lead to node 0"));
  CHECK(refused({{0}, {0}, {0, 1}, {-1}, {-2}}) == Contains("nodes_splits has 2 elements for 1 nodes"));
  CHECK(refused({{0}, {0}, {0}, {-1}, {-2}, {1}}) == Contains("attribute tree_roots has 1 of 1"));
  CHECK(refused({{0}, {0}, {0}, {-1}, {-2}, {}}) == Contains("there is no tree"));
  CHECK(refused({{0}, {0}, {0}, {-1}, {-2}}, {0, 1}) == Contains("has a weight for target 1 of 1"));
  CHECK(refused({{0}, {0}, {0}, {-1}, {-2}}, {0, 0}, {attribute("aggregate_function", std::int64_t{4})}) ==
        Contains("aggregate_function is 4"));
}
