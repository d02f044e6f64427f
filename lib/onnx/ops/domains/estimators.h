// The common parts of estimators (classifiers and regressors): features, transforms of scores, and sums of trees.
#pragma once

#include <memory>
#include <vector>

#include "onnx/ops/axes.h"
#include "onnx/ops/domains/device_parts.h"
#include "ops/estimators/scores.h"
#include "ops/estimators/trees.h"

namespace crisol::onnx {

/// The attribute as f32 numbers. Empty if the attribute is missing.
std::vector<float> floats_of(Call& call, const char* name);

/// A list as a tensor on a device. Undefined if the list is empty.
template <class T>
Tensor list_or_none(const std::vector<T>& values, Device device) {
  return values.empty() ? Tensor() : from_vector(values, device);
}

/// Features in the form that kernels take: f32 (rows, features).
Tensor rows_of(const Tensor& features);

/// The attribute post_transform as an enumerator.
ops::ScoreTransform transform_of(Call& call);

/// Computes the scores of trees, and labels if the ensemble has labels. Copies share the trees on the device.
class Ensemble {
 public:
  /// `base` is empty, or has one number for each column of the trees.
  Ensemble(ops::PackedTrees trees, std::vector<float> base, Numbers labels, ops::ScoreRule rule);

  /// `features` is one row, or a matrix of rows.
  ops::Scores operator()(const Tensor& features, Device device) const;

 private:
  struct Parts {
    ops::DeviceTrees trees;
    Tensor base, labels;
  };

  ops::ScoreRule rule_;
  bool ends_with_sums_;
  DeviceParts<Parts> parts_;
};

/// A node that computes the scores of targets. `base` is empty, or has one number for each target.
graph::Run targets_of(Call& call, ops::PackedTrees trees, std::vector<float> base, const ops::ScoreRule& rule);

}  // namespace crisol::onnx
