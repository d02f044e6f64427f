// Scores and labels of rows, which follow the sums of an estimator.
#pragma once

#include <cstdint>

#include "crisol/tensor.h"

namespace crisol::ops {

/// What follows the sums.
enum class ScoreTransform : std::uint8_t { none, logistic, softmax, softmax_zero, probit };
/// How the scores of two classes come from one sum: see cl_kernels/estimators/row_scores.cl.
enum class ScoreKind : std::uint8_t { each, share, sign, second_share, second_sign, share_by_sign };

struct ScoreRule {
  ScoreKind kind = ScoreKind::each;
  ScoreTransform transform = ScoreTransform::none;
  double scale = 1;
  bool marks_absent = false;  ///< A sum of -0 says that a row does not have the class.
};

struct Scores {
  Tensor values;  ///< f32 (rows, classes).
  Tensor labels;  ///< i64 (rows), or undefined without a table of labels.
};

/// The scores of sums (rows, columns), and the label of each row from the table `labels`. The base (columns) and the
/// table may be undefined.
Scores row_scores(const Tensor& sums, const Tensor& base, const Tensor& labels, const ScoreRule& rule);

enum class RowNorm : std::uint8_t { largest, l1, l2 };

/// Each row (rows, columns), f32, divided by its largest number or its norm. A row whose divisor is 0 stays.
Tensor divide_rows(const Tensor& x, RowNorm norm);

/// What pairs of classes say about each row: the labels by votes, and the probability of each class.
///
/// `pairs` (rows, classes · (classes - 1) / 2) has a score for each pair i < j: above 0 it votes for i, else for j. The
/// label with most votes wins. A score s makes the probability 1 / (1 + exp(a s + b)) of i against j, with a and b
/// (pairs). If they are undefined, there are no probabilities. The function overwrites `pairs`.
Scores pair_scores(const Tensor& pairs, const Tensor& a, const Tensor& b, const Tensor& labels);

}  // namespace crisol::ops
