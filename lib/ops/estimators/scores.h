// Scores and labels of rows, computed from the sums of an estimator.
#pragma once

#include <cstdint>

#include "crisol/tensor.h"

namespace crisol::ops {

/// The function that turns sums into scores.
enum class ScoreTransform : std::uint8_t { none, logistic, softmax, softmax_zero, probit };
/// How one sum gives the scores of two classes: see cl_kernels/estimators/row_scores.cl.
enum class ScoreKind : std::uint8_t { each, share, sign, second_share, second_sign, share_by_sign };

struct ScoreRule {
  ScoreKind kind = ScoreKind::each;
  ScoreTransform transform = ScoreTransform::none;
  double scale = 1;
  bool marks_absent = false;  ///< Whether a sum of -0 means that a row does not have the class.
};

/// Whether the kernels for CPUs can compute the scores of several rows at once.
inline bool may_score_rows(const ScoreRule& rule) {
  if (rule.kind == ScoreKind::each) return true;
  const bool has_zero = rule.kind == ScoreKind::second_share || rule.kind == ScoreKind::second_sign;
  return !has_zero && rule.transform <= ScoreTransform::logistic;
}

struct Scores {
  Tensor values;  ///< f32 (rows, classes).
  Tensor labels;  ///< i64 (rows), or undefined without a table of labels.
};

/// The scores of sums (rows, columns), and the label of each row from the table `labels`. The base (columns) and the
/// table may be undefined.
Scores row_scores(const Tensor& sums, const Tensor& base, const Tensor& labels, const ScoreRule& rule);

enum class RowNorm : std::uint8_t { largest, l1, l2 };

/// Divides each row (rows, columns) of f32 by its largest number or its norm. A row with divisor 0 stays unchanged.
Tensor divide_rows(const Tensor& x, RowNorm norm);

/// Labels by the votes of pairs of classes, and the probability of each class, for each row.
///
/// `pairs` (rows, classes · (classes - 1) / 2) has a score for each pair i < j. A score above 0 is a vote for i, any
/// other score is a vote for j. The label with most votes wins. With a and b (pairs), a score s gives the probability 1
/// / (1 + exp(a s + b)) of i against j. If they are undefined, there are no probabilities. The function overwrites
/// `pairs`.
Scores pair_scores(const Tensor& pairs, const Tensor& a, const Tensor& b, const Tensor& labels);

}  // namespace crisol::ops
