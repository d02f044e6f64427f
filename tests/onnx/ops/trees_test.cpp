// TreeEnsembleRegressor and TreeEnsembleClassifier of ai.onnx.ml.
#include <cmath>
#include <limits>

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

using Texts = std::vector<std::string>;
using Reals = std::vector<float>;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// One node for each list element.
struct Nodes {
  Sizes trees, ids, features, if_true, if_false, missing;
  Texts modes;
  Reals values;

  std::vector<Proto> attributes() const {
    std::vector<Proto> all{attribute("nodes_treeids", trees),         attribute("nodes_nodeids", ids),
                           attribute("nodes_featureids", features),   attribute("nodes_truenodeids", if_true),
                           attribute("nodes_falsenodeids", if_false), attribute("nodes_modes", modes),
                           attribute("nodes_values", values)};
    if (!missing.empty()) all.push_back(attribute("nodes_missing_value_tracks_true", missing));
    return all;
  }
};

/// A question and two leaves.
Nodes stump(const std::string& mode, float threshold, std::int64_t missing = 0) {
  return {{0, 0, 0},        {0, 1, 2}, {0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {missing, 0, 0}, {mode, "LEAF", "LEAF"},
          {threshold, 0, 0}};
}

OnnxOp regressor(const Nodes& nodes, const Sizes& trees, const Sizes& ids, const Sizes& targets, const Reals& weights,
                 std::vector<Proto> more = {}) {
  std::vector<Proto> all = nodes.attributes();
  all.insert(all.end(), {attribute("target_treeids", trees), attribute("target_nodeids", ids),
                         attribute("target_ids", targets), attribute("target_weights", weights)});
  all.insert(all.end(), more.begin(), more.end());
  return {"TreeEnsembleRegressor", all, 17, "ai.onnx.ml", {"y"}, 1};
}

OnnxOp classifier(const Sizes& ids, const Sizes& nodes, const Reals& weights, const Sizes& labels,
                  std::vector<Proto> more = {}) {
  std::vector<Proto> all = stump("BRANCH_LEQ", 1.5F).attributes();
  all.insert(all.end(), {attribute("class_treeids", Sizes(ids.size(), 0)), attribute("class_nodeids", nodes),
                         attribute("class_ids", ids), attribute("class_weights", weights),
                         attribute("classlabels_int64s", labels)});
  all.insert(all.end(), more.begin(), more.end());
  return {"TreeEnsembleClassifier", all, 17, "ai.onnx.ml", {"label", "scores"}, 1};
}

Tensor column(const std::vector<double>& x) { return tensor_of(x, {static_cast<std::int64_t>(x.size()), 1}); }

}  // namespace

TEST_CASE("trees: every mode of a node, at the threshold and beside it, and NaN") {
  const std::vector<double> x{1, std::nextafterf(1.5F, 0), 1.5, std::nextafterf(1.5F, 2), 2, -INFINITY, INFINITY, NAN};
  struct Case {
    const char* mode;
    std::vector<double> truth;  ///< Without missing_value_tracks_true.
  };
  for (const Case& c : {Case{"BRANCH_LEQ", {1, 1, 1, 0, 0, 1, 0, 0}}, Case{"BRANCH_LT", {1, 1, 0, 0, 0, 1, 0, 0}},
                        Case{"BRANCH_GTE", {0, 0, 1, 1, 1, 0, 1, 0}}, Case{"BRANCH_GT", {0, 0, 0, 1, 1, 0, 1, 0}},
                        Case{"BRANCH_EQ", {0, 0, 1, 0, 0, 0, 0, 0}}, Case{"BRANCH_NEQ", {1, 1, 0, 1, 1, 1, 1, 1}}})
    for (const std::int64_t missing : {0, 1}) {
      CAPTURE(c.mode);
      CAPTURE(missing);
      std::vector<double> truth = c.truth;
      if (missing == 1) truth.back() = 1;
      const OnnxOp op = regressor(stump(c.mode, 1.5F, missing), {0, 0}, {1, 2}, {0, 0}, {1, 0});
      check_close(run_op(op, {column(x)})[0], {8, 1}, truth, {0});
    }
}

TEST_CASE("trees: several trees, modes and targets, for odd numbers of rows") {
  // Tree 0: x0 < 0 ? leaf 1 : (x1 > 2 ? leaf 3 : leaf 4). Tree 1 is a leaf. Tree 2: x2 == 1 ? leaf 5 : leaf 6.
  const Nodes nodes{{0, 0, 0, 0, 0, 1, 2, 2, 2},
                    {0, 1, 2, 3, 4, 0, 4, 5, 6},
                    {0, 0, 1, 0, 0, 0, 2, 0, 0},
                    {1, 0, 3, 0, 0, 0, 5, 0, 0},
                    {2, 0, 4, 0, 0, 0, 6, 0, 0},
                    {},
                    {"BRANCH_LT", "LEAF", "BRANCH_GT", "LEAF", "LEAF", "LEAF", "BRANCH_EQ", "LEAF", "LEAF"},
                    {0, 0, 2, 0, 0, 0, 1, 0, 0}};
  const auto sums = [](double a, double b, double c) {
    const int leaf = a < 0 ? 1 : b > 2 ? 3 : 4;
    std::vector<double> y{leaf == 1 ? 1.0 : leaf == 3 ? 2.0 : 0.0, leaf == 3 ? 0.5 : leaf == 4 ? 4.0 : 0.0};
    y[0] += 10;
    y[1] += c == 1 ? -3 : -7;
    return y;
  };
  for (const std::int64_t rows : {0, 1, 7, 8, 9, 1001}) {
    CAPTURE(rows);
    std::vector<double> x = random_values(static_cast<unsigned>(rows + 1), 3 * rows), expected;
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto at = static_cast<std::size_t>(3 * i);
      x[at + 1] = static_cast<double>(i % 5);
      x[at + 2] = static_cast<double>(i % 3);
      for (const double y : sums(x[at], x[at + 1], x[at + 2])) expected.push_back(y);
    }
    const OnnxOp op = regressor(nodes, {0, 0, 0, 0, 1, 2, 2}, {1, 3, 3, 4, 0, 5, 6}, {0, 0, 1, 1, 0, 1, 1},
                                {1, 2, 0.5F, 4, 10, -3, -7}, {attribute("n_targets", std::int64_t{2})});
    check_close(run_op(op, {tensor_of(x, {rows, 3})})[0], {rows, 2}, expected, {0});
  }
}

TEST_CASE("trees: aggregates, base values and transforms of targets") {
  const Nodes two{{0, 0, 0, 1, 1, 1},
                  {0, 1, 2, 0, 1, 2},
                  {0, 0, 0, 0, 0, 0},
                  {1, 0, 0, 1, 0, 0},
                  {2, 0, 0, 2, 0, 0},
                  {},
                  {"BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"},
                  {0, 0, 0, 1, 0, 0}};
  const auto run = [&](const char* aggregate, const Reals& base) {
    std::vector<Proto> more{attribute("aggregate_function", aggregate)};
    if (!base.empty()) more.push_back(attribute("base_values", base));
    return run_op(regressor(two, {0, 0, 1, 1}, {1, 2, 1, 2}, {0, 0, 0, 0}, {-4, 0, 2, 6}, more),
                  {column({-1, 0.5, 3})})[0];
  };
  check_close(run("SUM", {}), {3, 1}, {-2, 2, 6}, {0});
  check_close(run("AVERAGE", {}), {3, 1}, {-1, 1, 3}, {0});
  check_close(run("MIN", {}), {3, 1}, {-4, 0, 0}, {0});
  check_close(run("MAX", {0.5F}), {3, 1}, {2.5, 2.5, 6.5}, {0});
}

TEST_CASE("trees: labels and scores of classes") {
  const Tensor x = column({0, 3});
  const auto check = [&](const OnnxOp& op, const std::vector<std::int64_t>& labels, const std::vector<double>& scores) {
    const std::vector<Tensor> y = run_op(op, {x});
    CHECK(y[0].to_vector<std::int64_t>() == labels);
    check_close(y[1], {2, static_cast<std::int64_t>(scores.size()) / 2}, scores, {8});
  };
  const auto logistic = [](double v) { return 1 / (1 + std::exp(-v)); };
  // Weights for one class of two.
  check(classifier({0, 0}, {1, 2}, {0.25F, 0.75F}, {5, 7}), {5, 7}, {0.75, 0.25, 0.25, 0.75});
  check(classifier({0, 0}, {1, 2}, {-0.25F, 0.75F}, {5, 7}), {5, 7}, {0.25, -0.25, -0.75, 0.75});
  check(classifier({0, 0}, {1, 2}, {-0.25F, 0.75F}, {5, 7},
                   {attribute("post_transform", "LOGISTIC"), attribute("base_values", Reals{0.5F})}),
        {7, 7}, {logistic(-0.25), logistic(0.25), logistic(-1.25), logistic(1.25)});
  check(classifier({1, 1}, {1, 2}, {0.25F, 0.75F}, {5, 7}), {5, 7}, {0, 0.25, 0, 0.75});
  // Weights for each class.
  check(classifier({0, 1, 0, 1}, {1, 1, 2, 2}, {0.25F, 0.75F, 1, 0}, {5, 7}), {7, 5}, {0.25, 0.75, 1, 0});
  check(classifier({0, 1, 2}, {1, 1, 2}, {-2, -1, -3}, {5, 7, 9}), {7, 9}, {-2, -1, 0, 0, 0, -3});
  const double sum = std::exp(-1) + 1 + std::exp(1);
  check(classifier({0, 1, 2, 2}, {1, 1, 1, 2}, {-1, 0, 1, 3}, {5, 7, 9},
                   {attribute("post_transform", "SOFTMAX"), attribute("base_values", Reals{2, 2, 2})}),
        {9, 9},
        {std::exp(-1) / sum, 1 / sum, std::exp(1) / sum, 1 / (2 + std::exp(3)), 1 / (2 + std::exp(3)),
         std::exp(3) / (2 + std::exp(3))});
  check(classifier({0, 1, 2}, {1, 1, 2}, {1, 2, 3}, {5, 7, 9}, {attribute("post_transform", "SOFTMAX_ZERO")}), {7, 9},
        {1 / (1 + std::exp(1)), std::exp(1) / (1 + std::exp(1)), 0, 0, 0, 1});
}

TEST_CASE("trees: files of strangers are refused") {
  const auto refused = [](const Nodes& nodes, const Sizes& ids = {1, 2}, const Sizes& targets = {0, 0}) {
    return refusal_of_op(regressor(nodes, {0, 0}, ids, targets, {1, 2}), {ones({1, 1})});
  };
  Nodes nodes = stump("BRANCH_LEQ", 0);
  CHECK(refused(nodes, {1, 9}) == Contains("there is no node 9 of tree 0"));
  CHECK(refused(nodes, {1, 2}, {0, 1}) == Contains("has a weight for target 1 of 1"));
  nodes.if_true[0] = 7;
  CHECK(refused(nodes) == Contains("there is no node 7 of tree 0"));
  nodes.if_true[0] = 0;
  CHECK(refused(nodes) == Contains("two nodes of a tree lead to node 0 of tree 0"));
  nodes.if_true[0] = 2;
  CHECK(refused(nodes) == Contains("two nodes of a tree lead to node 2 of tree 0"));
  nodes = stump("BRANCH_LEQ", 0);
  nodes.ids[2] = 1;
  CHECK(refused(nodes) == Contains("node 1 of tree 0 is there twice"));
  nodes = stump("BRANCH_LEQ", 0);
  nodes.features = {0, 0};
  CHECK(refused(nodes) == Contains("nodes_featureids has 2 elements for 3 nodes"));
  nodes.features = {-1, 0, 0};
  CHECK(refused(nodes) == Contains("reads feature -1"));
  nodes.features = {1, 0, 0};
  CHECK_THROWS_WITH_AS(run_op(regressor(nodes, {0, 0}, {1, 2}, {0, 0}, {1, 2}), {ones({2, 1})}),
                       Contains("(rows, at least 2) expected"), Error);
  CHECK(refused(stump("BRANCH_ODD", 0)) == Contains("a node has the mode BRANCH_ODD"));
}
