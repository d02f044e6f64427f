// What nodes of estimators have in common: features, transforms, and trees with what follows their sums.
#pragma once

#include <memory>
#include <vector>

#include "onnx/ops/axes.h"
#include "onnx/ops/domains/device_parts.h"
#include "ops/estimators/scores.h"
#include "ops/estimators/trees.h"

namespace crisol::onnx {

/// The attribute as numbers of f32; empty if it is missing.
std::vector<float> floats_of(Call& call, const char* name);

/// A list as a tensor on a device; undefined if it is empty.
template <class T>
Tensor list_or_none(const std::vector<T>& values, Device device) {
  return values.empty() ? Tensor() : from_vector(values, device);
}

/// Features as kernels take them: f32 (rows, features).
Tensor rows_of(const Tensor& features);

/// The attribute post_transform, as a name.
ops::ScoreTransform transform_of(Call& call);

/// The scores of trees, and labels if there are any. Copies share the trees on the device.
class Ensemble {
 public:
  /// The base is empty, or has a number for each column of the trees.
  Ensemble(ops::PackedTrees trees, std::vector<float> base, Numbers labels, ops::ScoreRule rule);

  /// One row of features, or a matrix of rows.
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

/// A node that gives the scores of targets. The base is empty, or has a number for each target.
graph::Run targets_of(Call& call, ops::PackedTrees trees, std::vector<float> base, const ops::ScoreRule& rule);

}  // namespace crisol::onnx
