// Linear models with few results. Only the importer of ONNX files uses them.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/estimators/scores.h"

namespace crisol::ops {

/// Weights as cl_kernels/estimators/linear_scores.cl reads them.
struct LinearWeights {
  /// The most results and features. A matrix product is faster for more.
  static constexpr std::int64_t most_columns = 16, most_features = 1024;

  /// `coefficients` (columns, features), and a bias for each column or none.
  LinearWeights(const std::vector<float>& coefficients, const std::vector<float>& bias, std::int64_t result_columns,
                Device device);

  std::int64_t columns, features, lanes;
  Tensor weight, bias;
};

/// What row_scores gives for x (rows, features) times the weights. Throws invalid_argument for another dtype or shape.
Scores linear_scores(const Tensor& x, const LinearWeights& weights, const Tensor& labels, const ScoreRule& rule);

}  // namespace crisol::ops
