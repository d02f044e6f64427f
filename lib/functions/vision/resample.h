// Resizing along single axes, with gradients: what interpolate() and the Resize of ONNX files have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "crisol/tensor.h"
#include "ops/vision/resample.h"

namespace crisol {

/// The place of element j of the result in the input, as a position along the axis. NaN: the element is 0.
using PlaceOf = std::function<double(std::int64_t j)>;

/// A function of the distance from an element's place. Its values are the weights of the neighbours.
struct ResampleFilter {
  bool is_cubic = false;         ///< A cubic spline over 4 neighbours; otherwise a triangle over 2.
  double a = -0.75;              ///< The parameter of the spline.
  double stretch = 1;            ///< Distances are multiplied by it. Below 1 more neighbours contribute.
  bool exclude_outside = false;  ///< Neighbours outside the input have no weight. Otherwise the border stands for them.
};

/// Weights of an axis on which each element of the result comes from several neighbours. With a stretch below 1, or
/// without the neighbours outside, the weights are divided by their sum.
ops::AxisWeights filter_weights(std::int64_t size, std::int64_t count, const PlaceOf& place,
                                const ResampleFilter& filter);

/// Weights of an axis on which each element of the result is one element of the input. Positions outside are moved to
/// the border.
ops::AxisWeights pick_weights(std::int64_t size, std::int64_t count, const PlaceOf& position);

struct ResampledAxis {
  int axis;
  ops::AxisWeights weights;
};

/// Resizes axes one after another. x is f32 or f16, or of any dtype if all elements are picked.
Tensor resample_axes(const char* op, const Tensor& x, std::vector<ResampledAxis> axes);

}  // namespace crisol
