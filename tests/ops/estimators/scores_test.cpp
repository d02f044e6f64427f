// Linear models, scores and labels of rows, and rows divided by their norms, against formulas in double.
#include <algorithm>
#include <cmath>
#include <limits>

#include "doctest/doctest.h"
#include "ops/estimators/linear_scores.h"
#include "ops/estimators/scores.h"
#include "support/compare.h"

using namespace crisol;
using namespace crisol::testing;
using ops::RowNorm;
using ops::ScoreKind;
using ops::ScoreRule;
using ops::ScoreTransform;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr Tolerance rounding{64};

using Values = std::vector<double>;

double logistic(double v) { return 1 / (1 + std::exp(-v)); }

/// As cl_kernels/estimators/score_row.h has it, without the product of (1 - v) and (1 + v).
double probit(double p) {
  const double v = 2 * p - 1, l = std::log1p(-v) + std::log1p(v), a = 2 / (3.14159265358979 * 0.147) + 0.5 * l;
  const double b = std::sqrt(a * a - l / 0.147);
  const double root = std::sqrt(a > 0 ? -l / 0.147 / (a + b) : b - a);
  return std::sqrt(2.0) * (v < 0 ? -root : root);
}

void transform(Values& y, ScoreTransform how) {
  if (how == ScoreTransform::probit) std::transform(y.begin(), y.end(), y.begin(), probit);
  if (y.size() < 2) return;
  if (how == ScoreTransform::logistic) std::transform(y.begin(), y.end(), y.begin(), logistic);
  if (how != ScoreTransform::softmax && how != ScoreTransform::softmax_zero) return;
  const double largest = *std::max_element(y.begin(), y.end());
  double sum = 0;
  for (double& v : y) {
    const bool is_zero = how == ScoreTransform::softmax_zero && std::fabs(v) <= 1e-7;
    v = is_zero ? v * std::exp(-largest) : std::exp(v - largest);
    sum += is_zero ? 0 : v;
  }
  for (double& v : y) v /= sum;
}

struct Row {
  Values scores;
  std::size_t label;
};

Row scored(Values sums, const ScoreRule& rule) {
  if (rule.kind == ScoreKind::each) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < sums.size(); ++i)
      if (sums[i] > sums[best]) best = i;
    transform(sums, rule.transform);
    return {sums, best};
  }
  const double s = sums[0];
  const bool is_share = rule.kind == ScoreKind::share || rule.kind == ScoreKind::second_share;
  const std::size_t label = s > (is_share ? 0.5 : 0) ? 1 : 0;
  Values y{0, s};
  if (rule.kind == ScoreKind::second_share || rule.kind == ScoreKind::second_sign) {
    transform(y, rule.transform);
    return {y, label};
  }
  y[0] = rule.kind == ScoreKind::sign ? -s : 1 - s;
  if (rule.transform == ScoreTransform::logistic) y = {logistic(-s), logistic(s)};
  if (rule.transform == ScoreTransform::probit) y = {probit(s), probit(s)};
  return {y, label};
}

constexpr ScoreTransform transforms[] = {ScoreTransform::none, ScoreTransform::logistic, ScoreTransform::softmax,
                                         ScoreTransform::softmax_zero, ScoreTransform::probit};
constexpr ScoreKind kinds[] = {ScoreKind::each,         ScoreKind::share,       ScoreKind::sign,
                               ScoreKind::second_share, ScoreKind::second_sign, ScoreKind::share_by_sign};

/// Sums between 0 and 1, where probit has values, with zeros and ties.
Values sums_of_rows(std::uint64_t seed, std::int64_t count, bool are_shares) {
  Values sums = random_values(seed, static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i] = are_shares ? 0.02 + 0.96 * std::fabs(sums[i]) / (1 + std::fabs(sums[i])) : 4 * sums[i];
    if (!are_shares && i % 11 == 3) sums[i] = 0;
    if (i % 5 == 4) sums[i] = sums[i - 1];
    sums[i] = static_cast<float>(sums[i]);
  }
  return sums;
}

void check_scores(const ops::Scores& actual, const Values& sums, std::int64_t columns, const ScoreRule& rule) {
  Values scores, labels;
  for (auto at = sums.begin(); at != sums.end(); at += columns) {
    const Row row = scored(Values(at, at + columns), rule);
    scores.insert(scores.end(), row.scores.begin(), row.scores.end());
    labels.push_back(100 + 7 * static_cast<double>(row.label));
  }
  check_close(actual.values, scores, rounding);
  if (actual.labels.defined()) check_close(actual.labels, labels, {0});
}

Tensor labels_for(std::int64_t classes) {
  Values labels;
  for (std::int64_t i = 0; i < classes; ++i) labels.push_back(100 + 7 * static_cast<double>(i));
  return tensor_of(labels, {classes}, DType::i64);
}

}  // namespace

TEST_CASE("row_scores: every kind and transform, for odd numbers of rows and columns") {
  std::uint64_t seed = 0;
  for (const ScoreKind kind : kinds)
    for (const ScoreTransform how : transforms)
      for (const std::int64_t rows : {1, 7, 8, 19})
        for (const std::int64_t columns : {1, 2, 3, 4, 9, 16, 17}) {
          if (kind != ScoreKind::each && columns != 1) continue;
          CAPTURE(static_cast<int>(kind));
          CAPTURE(static_cast<int>(how));
          CAPTURE(rows);
          CAPTURE(columns);
          const ScoreRule rule{.kind = kind, .transform = how};
          const Values sums = sums_of_rows(++seed, rows * columns, how == ScoreTransform::probit);
          const Tensor x = tensor_of(sums, {rows, columns});
          const Tensor labels = labels_for(kind == ScoreKind::each ? columns : 2);
          check_scores(ops::row_scores(x, {}, labels, rule), sums, columns, rule);
          CHECK(!ops::row_scores(x, {}, {}, rule).labels.defined());
        }
}

TEST_CASE("row_scores: probit keeps its digits near one half and near the ends") {
  const ScoreRule rule{.kind = ScoreKind::each, .transform = ScoreTransform::probit};
  Values sums{0.5, 0.25, 0.75, 1e-30, 1e-6, 0.02, 0.98};
  for (const int power : {1, 2, 3, 5, 8, 12, 16, 20, 24}) {
    sums.push_back(0.5 + std::ldexp(1, -power - 1));
    sums.push_back(0.5 - std::ldexp(1, -power - 1));
    sums.push_back(1 - std::ldexp(1, -power));
  }
  for (double& p : sums) p = static_cast<float>(p);
  sums.erase(std::remove(sums.begin(), sums.end(), 1.0), sums.end());
  const Tensor x = tensor_of(sums, {static_cast<std::int64_t>(sums.size()), 1});
  const Tensor y = ops::row_scores(x, {}, labels_for(1), rule).values;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    CAPTURE(sums[i]);
    const double actual = y.to_vector<float>()[i], expected = probit(sums[i]);
    CHECK(std::fabs(actual - expected) <= 1e-6 * std::fabs(expected));
  }
}

TEST_CASE("row_scores: scale and base, classes without a leaf, and NaN") {
  const std::int64_t rows = 11, columns = 3;
  Values sums = sums_of_rows(3, rows * columns, false), moved;
  for (std::size_t i = 0; i < sums.size(); ++i)
    moved.push_back(0.5 * sums[i] + (i % 3 == 0 ? 1 : i % 3 == 1 ? -2 : 0.25));
  const ScoreRule halved{.kind = ScoreKind::each, .transform = ScoreTransform::softmax, .scale = 0.5};
  const Tensor base = tensor_of({1, -2, 0.25}, {3});
  check_scores(ops::row_scores(tensor_of(sums, {rows, columns}), base, labels_for(3), halved), moved, 3, halved);

  const ScoreRule named{.kind = ScoreKind::each, .marks_absent = true};
  const Tensor absent = tensor_of({-0.0, -1, -2, -0.0, -0.0, -0.0, 0, -0.0, -1}, {3, 3});
  check_close(ops::row_scores(absent, {}, labels_for(3), named).labels, {107, 100, 100}, {0});

  const Tensor with_nan = tensor_of({not_a_number, 1, 2, 1, not_a_number, 2, 1, 0, not_a_number}, {3, 3});
  check_close(ops::row_scores(with_nan, {}, labels_for(3), {}).labels, {100, 114, 100}, {0});
}

TEST_CASE("linear_scores: every kind and transform, for odd numbers of rows, features and results") {
  std::uint64_t seed = 100;
  for (const std::int64_t columns : {1, 2, 4, 5, 16})
    for (const std::int64_t features : {1, 3, 4, 7, 8, 12, 21})
      for (const std::int64_t rows : {1, 8, 21}) {
        CAPTURE(columns);
        CAPTURE(features);
        CAPTURE(rows);
        const Values x = random_values(++seed, static_cast<std::size_t>(rows * features));
        const Values w = random_values(++seed, static_cast<std::size_t>(columns * features));
        const Values b = random_values(++seed, static_cast<std::size_t>(columns));
        Values sums;
        for (std::int64_t r = 0; r < rows; ++r)
          for (std::int64_t c = 0; c < columns; ++c) {
            double sum = b[static_cast<std::size_t>(c)];
            for (std::int64_t f = 0; f < features; ++f)
              sum += x[static_cast<std::size_t>(r * features + f)] * w[static_cast<std::size_t>(c * features + f)];
            sums.push_back(sum);
          }
        const ops::LinearWeights weights({w.begin(), w.end()}, {b.begin(), b.end()}, columns, Device());
        const Tensor rows_of_x = tensor_of(x, {rows, features});
        check_close(ops::linear_scores(rows_of_x, weights, {}, {}).values, sums, rounding);
        for (const ScoreKind kind : kinds)
          for (const ScoreTransform how : transforms) {
            if ((kind != ScoreKind::each && columns != 1) || how == ScoreTransform::probit) continue;
            const ScoreRule rule{.kind = kind, .transform = how};
            const Tensor labels = labels_for(kind == ScoreKind::each ? columns : 2);
            check_scores(ops::linear_scores(rows_of_x, weights, labels, rule), sums, columns, rule);
          }
      }
}

TEST_CASE("divide_rows: every norm, for odd numbers of rows and columns, zeros and infinities") {
  for (const RowNorm norm : {RowNorm::largest, RowNorm::l1, RowNorm::l2})
    for (const std::int64_t columns : {1, 2, 4, 7, 8, 13, 16, 17}) {
      CAPTURE(columns);
      const std::int64_t rows = 6;
      Values x = random_values(static_cast<std::uint64_t>(columns), static_cast<std::size_t>(rows * columns)), y;
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (i < static_cast<std::size_t>(columns)) x[i] = 0;
        if (i >= x.size() - static_cast<std::size_t>(columns)) x[i] *= 1e30;
        x[i] = static_cast<float>(x[i]);
      }
      for (auto at = x.begin(); at != x.end(); at += columns) {
        double largest = at[0], l1 = 0, squares = 0;
        for (auto v = at; v != at + columns; ++v) {
          largest = std::max(largest, *v);
          l1 += std::fabs(*v);
          squares += *v * *v;
        }
        const double divisor = norm == RowNorm::largest ? largest : norm == RowNorm::l1 ? l1 : std::sqrt(squares);
        for (auto v = at; v != at + columns; ++v) y.push_back(divisor == 0 ? *v : *v / divisor);
      }
      check_close(ops::divide_rows(tensor_of(x, {rows, columns}), norm), y, rounding);
    }
}
