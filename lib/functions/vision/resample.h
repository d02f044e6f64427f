// Resizing along single axes, with gradients. interpolate() and the Resize of ONNX files use it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "crisol/options/vision.h"
#include "crisol/tensor.h"
#include "ops/vision/resample.h"

namespace crisol {

/// The position in the input of element j of the result, along the axis. If it is NaN, the element is 0.
using PlaceOf = std::function<double(std::int64_t j)>;

/// A function of the distance from an element's place. Its values are the weights of the neighbours.
struct ResampleFilter {
  bool is_cubic = false;         ///< A cubic spline over 4 neighbours. Otherwise a triangle over 2 neighbours.
  double a = -0.75;              ///< The parameter of the spline.
  double stretch = 1;            ///< A factor of the distances. If it is below 1, more neighbours contribute.
  bool exclude_outside = false;  ///< Neighbours outside of the input have no weight. If false, the border is repeated.
};

/// Weights of an axis on which each element of the result is a weighted sum of neighbours. The weights are divided by
/// their sum if the stretch is below 1, or if neighbours outside have no weight.
ops::AxisWeights filter_weights(std::int64_t size, std::int64_t count, const PlaceOf& place,
                                const ResampleFilter& filter);

/// Weights of an axis on which each element of the result is one element of the input. Positions outside are moved to
/// the border.
ops::AxisWeights pick_weights(std::int64_t size, std::int64_t count, const PlaceOf& position);

struct ResampledAxis {
  int axis;
  ops::AxisWeights weights;
};

/// The resampled axes of interpolate(), for an input of this shape.
std::vector<ResampledAxis> interpolated_axes(const Shape& x, const InterpolateOptions& options);

/// Resizes axes one after another. x has floating-point numbers. It may have any dtype if all weights only pick
/// elements.
Tensor resample_axes(const char* op, const Tensor& x, std::vector<ResampledAxis> axes);

}  // namespace crisol
