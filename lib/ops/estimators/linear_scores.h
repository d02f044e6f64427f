// Linear models with few results. Only the importer of ONNX files uses them.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/estimators/scores.h"

namespace crisol::ops {

/// Weights in the layout of cl_kernels/estimators/linear_scores.cl.
struct LinearWeights {
  /// Limits for results and features. Beyond them a matrix product is faster.
  static constexpr std::int64_t most_columns = 16, most_features = 1024;

  /// `coefficients` is (columns, features). `bias` has one number for each column, or is empty.
  LinearWeights(const std::vector<float>& coefficients, const std::vector<float>& bias, std::int64_t result_columns,
                Device device);

  std::int64_t columns, features, lanes;
  Tensor weight, bias;
  Tensor rows;  ///< The coefficients for linear_score.cl, which takes up to 4 columns.
};

/// row_scores of x (rows, features) times the weights. Throws invalid_argument for another dtype or shape.
Scores linear_scores(const Tensor& x, const LinearWeights& weights, const Tensor& labels, const ScoreRule& rule);

}  // namespace crisol::ops
