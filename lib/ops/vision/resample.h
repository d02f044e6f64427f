// Weighted sums along one axis: resizing an image, and its gradient.
#pragma once

#include <cstdint>
#include <vector>

#include "crisol/tensor.h"

namespace crisol::ops {

/// Element j along the axis of the result is the sum of weights[e] times element indices[e] of the input, over the
/// entries e from starts[j] to starts[j + 1] - 1.
struct AxisWeights {
  std::int64_t size = 0;  ///< The size of the input along the axis.
  std::vector<std::int32_t> starts{0}, indices;
  std::vector<double> weights;

  /// Whether each element of the result is one element of the input.
  bool only_picks() const;
  /// The size of the result along the axis.
  std::int64_t count() const { return static_cast<std::int64_t>(starts.size()) - 1; }
  /// Adds a term to the current element of the result. Terms with equal indices must follow each other, and become one
  /// term.
  void add(std::int64_t index, double weight);
  /// Ends the current element of the result.
  void end() { starts.push_back(static_cast<std::int32_t>(indices.size())); }
  /// The weights of the gradient, in which input and result are exchanged.
  AxisWeights transposed() const;
};

/// The weighted sums along an axis of x. Types other than f64 are summed in f32 with weights of f32. The result is
/// contiguous. The sums have a fixed order.
Tensor resample(const Tensor& x, int axis, const AxisWeights& weights);

}  // namespace crisol::ops
