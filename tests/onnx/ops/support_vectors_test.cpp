// SVMClassifier and SVMRegressor of ai.onnx.ml.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

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
using Doubles = std::vector<double>;

Reals floats_of(const Doubles& values) { return {values.begin(), values.end()}; }
Doubles rounded(const Doubles& values) {
  const Reals floats = floats_of(values);
  return {floats.begin(), floats.end()};
}

/// A kernel of two rows of features.
struct SupportKernel {
  const char* name;
  double gamma = 0.25, coef0 = 0.5, degree = 3;

  double operator()(const double* a, const double* b, std::size_t features) const {
    double dot = 0, apart = 0;
    for (std::size_t f = 0; f < features; ++f) {
      dot += a[f] * b[f];
      apart += (a[f] - b[f]) * (a[f] - b[f]);
    }
    const std::string kind = name;
    return kind == "LINEAR" ? dot
           : kind == "POLY" ? std::pow(gamma * dot + coef0, degree)
           : kind == "RBF"  ? std::exp(-gamma * apart)
                            : std::tanh(gamma * dot + coef0);
  }
  Proto numbers() const { return attribute("kernel_params", floats_of({gamma, coef0, degree})); }
};

OnnxOp regressor(const SupportKernel& kernel, const Doubles& vectors, const Doubles& coefficients, float rho,
                 std::vector<Proto> more = {}) {
  more.insert(
      more.end(),
      {attribute("kernel_type", kernel.name), kernel.numbers(), attribute("support_vectors", floats_of(vectors)),
       attribute("coefficients", floats_of(coefficients)), attribute("rho", Reals{rho}),
       attribute("n_supports", static_cast<std::int64_t>(vectors.empty() ? 0 : coefficients.size()))});
  return {"SVMRegressor", more, 17, "ai.onnx.ml", {"y"}, 1};
}

/// Three classes with 2, 1 and 2 vectors of two features. Coefficients: a row against each other class.
const Doubles class_vectors{0, 0, 0.5, 0.25, 2, 0, 0, 2, -0.5, 1.5};
const Doubles class_coefficients{1, 0.5, -1, -0.75, -0.5, 0.25, 1, 0.5, -1, -0.5};
const Doubles class_rho{0.1, -0.2, 0.05};

OnnxOp classifier(std::vector<Proto> more = {}, const Doubles& rho = class_rho) {
  more.insert(more.end(),
              {attribute("kernel_type", "RBF"), SupportKernel{"RBF"}.numbers(),
               attribute("support_vectors", floats_of(class_vectors)),
               attribute("coefficients", floats_of(class_coefficients)), attribute("rho", floats_of(rho)),
               attribute("vectors_per_class", Sizes{2, 1, 2}), attribute("classlabels_ints", Sizes{7, 8, 5})});
  return {"SVMClassifier", more, 17, "ai.onnx.ml", {"label", "scores"}, 1};
}

/// The scores of the pairs (0, 1), (0, 2) and (1, 2) of a row.
Doubles pairs_of(const double* row) {
  const Sizes starts{0, 2, 3, 5};
  Doubles scores = rounded(class_rho);
  std::size_t pair = 0;
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = i + 1; j < 3; ++j, ++pair)
      for (const auto& [own, other] : {std::pair{i, j - 1}, std::pair{j, i}})
        for (std::int64_t v = starts[static_cast<std::size_t>(own)]; v < starts[static_cast<std::size_t>(own) + 1]; ++v)
          scores[pair] += class_coefficients[static_cast<std::size_t>(other * 5 + v)] *
                          SupportKernel{"RBF"}(row, &class_vectors[static_cast<std::size_t>(2 * v)], 2);
  return scores;
}

std::int64_t label_of(const Doubles& pairs) {
  int votes[3] = {};
  ++votes[pairs[0] > 0 ? 0 : 1];
  ++votes[pairs[1] > 0 ? 0 : 2];
  ++votes[pairs[2] > 0 ? 1 : 2];
  return Sizes{7, 8, 5}[static_cast<std::size_t>(std::max_element(votes, votes + 3) - votes)];
}

}  // namespace

TEST_CASE("support vectors: every kernel, for odd numbers of rows, features and vectors") {
  for (const SupportKernel& kernel : {SupportKernel{"LINEAR"}, SupportKernel{"POLY"},
                                      SupportKernel{"POLY", 0.25, 0.5, 1}, SupportKernel{"POLY", -0.5, 0, 2},
                                      SupportKernel{"POLY", 0.5, 1, 4}, SupportKernel{"RBF"}, SupportKernel{"SIGMOID"}})
    for (const auto& [rows, features, count] :
         {std::tuple{0, 3, 5}, {1, 1, 1}, {5, 7, 16}, {67, 3, 17}, {130, 9, 40}}) {
      CAPTURE(kernel.name);
      CAPTURE(rows);
      const Doubles x = random_values(1, rows * features), vectors = random_values(2, count * features),
                    coefficients = random_values(3, count);
      Doubles expected;
      for (int row = 0; row < rows; ++row) {
        double y = 0.125;
        for (int v = 0; v < count; ++v)
          y += static_cast<double>(static_cast<float>(coefficients[static_cast<std::size_t>(v)])) *
               kernel(&x[static_cast<std::size_t>(row * features)], &vectors[static_cast<std::size_t>(v * features)],
                      static_cast<std::size_t>(features));
        expected.push_back(y);
      }
      const Tensor y = run_op(regressor(kernel, vectors, coefficients, 0.125F), {tensor_of(x, {rows, features})})[0];
      CHECK(y.shape() == Shape{rows, 1});
      const std::vector<float> found = y.to_vector<float>();
      for (std::size_t i = 0; i < found.size(); ++i)
        CHECK(found[i] == doctest::Approx(expected[i]).epsilon(2e-5).scale(1));
    }
}

TEST_CASE("support vectors: large coefficients of both signs, one class, and products without vectors") {
  Doubles vectors, coefficients;
  for (int v = 0; v < 400; ++v) {
    vectors.push_back(0);
    coefficients.push_back(v % 2 == 0 ? 3e4 : -3e4);
  }
  const Tensor x = tensor_of({2, -3}, {2, 1});
  check_close(run_op(regressor({"RBF", 0}, vectors, coefficients, 0.25F), {x})[0], {2, 1}, {0.25, 0.25}, {0});
  check_close(run_op(regressor({"LINEAR"}, {1}, {1}, 0, {attribute("one_class", std::int64_t{1})}), {x})[0], {2, 1},
              {1, -1}, {0});
  check_close(run_op(regressor({"RBF"}, {}, {3}, 1), {x})[0], {2, 1}, {7, -8}, {0});
}

TEST_CASE("support vectors: labels by votes, scores of pairs, and probabilities") {
  constexpr int rows = 37;
  const Doubles x = random_values(5, rows * 2);
  const Tensor features = tensor_of(x, {rows, 2});
  std::vector<std::int64_t> labels;
  Doubles scores;
  for (std::size_t row = 0; row < rows; ++row) {
    const Doubles pairs = pairs_of(&x[2 * row]);
    labels.push_back(label_of(pairs));
    scores.insert(scores.end(), pairs.begin(), pairs.end());
  }
  const std::vector<Tensor> plain = run_op(classifier(), {features});
  CHECK(plain[0].to_vector<std::int64_t>() == labels);
  check_close(plain[1], {rows, 3}, scores, {64});

  const std::vector<Tensor> y = run_op(
      classifier({attribute("prob_a", Reals{-2, -1.5F, -3}), attribute("prob_b", Reals{0.1F, 0, -0.2F})}), {features});
  CHECK(y[0].to_vector<std::int64_t>() == labels);
  CHECK(y[1].shape() == Shape{rows, 3});
  const std::vector<float> p = y[1].to_vector<float>();
  const double a[] = {-2, -1.5, -3}, b[] = {0.1, 0, -0.2};
  for (std::size_t row = 0; row < rows; ++row) {
    double r[3][3] = {}, q[3][3] = {}, products[3] = {}, all = 0, sum = 0;
    for (std::size_t i = 0, pair = 0; i < 3; ++i)
      for (std::size_t j = i + 1; j < 3; ++j, ++pair) {
        r[i][j] = 1 / (1 + std::exp(scores[3 * row + pair] * a[pair] + b[pair]));
        r[j][i] = 1 - r[i][j];
      }
    // The least of sum over i and j of (r(j, i) p(i) - r(i, j) p(j))^2 is where all products of its matrix are equal.
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j)
        if (i != j) {
          q[i][i] += r[j][i] * r[j][i];
          q[i][j] = -r[j][i] * r[i][j];
        }
    for (std::size_t i = 0; i < 3; ++i) {
      sum += static_cast<double>(p[3 * row + i]);
      for (std::size_t j = 0; j < 3; ++j) products[i] += q[i][j] * static_cast<double>(p[3 * row + j]);
      all += static_cast<double>(p[3 * row + i]) * products[i];
    }
    CHECK(sum == doctest::Approx(1).epsilon(1e-5));
    for (const double product : products) CHECK(std::abs(product - all) < 0.0017);
  }
}

TEST_CASE("support vectors: two classes, and classes without vectors") {
  const auto two = [](std::vector<Proto> more) {
    more.insert(more.end(), {attribute("kernel_type", "LINEAR"), attribute("support_vectors", Reals{1, -1}),
                             attribute("coefficients", Reals{1, -1}), attribute("rho", Reals{0.5F}),
                             attribute("vectors_per_class", Sizes{1, 1}), attribute("classlabels_ints", Sizes{4, 9})});
    return run_op({"SVMClassifier", more, 17, "ai.onnx.ml", {"label", "scores"}, 1}, {tensor_of({1, -1}, {2, 1})});
  };
  const std::vector<Tensor> plain = two({});
  CHECK(plain[0].to_vector<std::int64_t>() == std::vector<std::int64_t>{4, 9});
  check_close(plain[1], {2, 2}, {-2.5, 2.5, 1.5, -1.5}, {0});
  check_close(two({attribute("post_transform", "SOFTMAX")})[1], {2, 2}, {-1.5, 2.5, 2.5, -1.5}, {0});
  const auto logistic = [](double v) { return 1 / (1 + std::exp(-v)); };
  check_close(two({attribute("post_transform", "LOGISTIC")})[1], {2, 2},
              {logistic(-2.5), logistic(2.5), logistic(1.5), logistic(-1.5)}, {8});

  const OnnxOp linear{"SVMClassifier",
                      {attribute("coefficients", Reals{1, -1, 0, 2}), attribute("rho", Reals{0.5F}),
                       attribute("classlabels_ints", Sizes{4, 9})},
                      17,
                      "ai.onnx.ml",
                      {"label", "scores"},
                      1};
  const std::vector<Tensor> y = run_op(linear, {tensor_of({3, 1, 1, 2}, {2, 2})});
  CHECK(y[0].to_vector<std::int64_t>() == std::vector<std::int64_t>{4, 9});
  check_close(y[1], {2, 2}, {2.5, 2.5, -0.5, 4.5}, {0});
}

TEST_CASE("support vectors: files of strangers are refused") {
  const Tensor x = ones({1, 2});
  CHECK(refusal_of_op(classifier({}, {1}), {x}) == Contains("attribute rho has 1 numbers for 3 pairs of classes"));
  CHECK(refusal_of_op(classifier({attribute("prob_a", Reals{1})}), {x}) ==
        Contains("prob_a has 1 numbers, prob_b has 0 for 3 pairs of classes"));
  CHECK(refusal_of_op(regressor({"RBF"}, {1, 2, 3}, {1, 2}, 0), {x}) == Contains("3 numbers of 2 support vectors"));
  CHECK(refusal_of_op(regressor({"ODD"}, {1}, {1}, 0), {x}) == Contains("kernel_type"));
  CHECK_THROWS_WITH_AS(run_op(classifier(), {ones({1, 3})}), Contains("(rows, 2) expected"), Error);
}
