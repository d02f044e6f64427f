// Options of functions that resample images.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "crisol/shape.h"

namespace crisol {

/// How interpolate() computes an element from its neighbours in the input.
enum class InterpolateMode {
  nearest,        ///< The neighbour below: PyTorch's "nearest".
  nearest_exact,  ///< The nearest neighbour: PyTorch's "nearest-exact".
  linear,         ///< Two neighbours along each axis: "linear", "bilinear" or "trilinear" in PyTorch.
  cubic,          ///< Four neighbours along each axis: "bicubic" in PyTorch.
};

/// Options of interpolate(). Either `size` or `scale_factor` is given.
struct InterpolateOptions {
  Shape size = {};                                  ///< The new sizes of the axes after the channels, or one for all.
  std::vector<double> scale_factor = {};            ///< The factors of these sizes, or one for all.
  InterpolateMode mode = InterpolateMode::nearest;  ///< How elements are computed.
  bool align_corners = false;  ///< The first and last elements of input and output have the same places. Not for
                               ///< nearest modes.
  bool antialias = false;      ///< If the image becomes smaller, more neighbours contribute. Not for nearest modes.
};

/// How grid_sample() computes an element from its neighbours in the input. Bicubic is for images only.
enum class GridSampleMode { bilinear, nearest, bicubic };

/// The values that grid_sample() reads outside the input: zeros, the nearest element of the border, or the mirrored
/// input.
enum class GridSamplePadding { zeros, border, reflection };

/// Options of grid_sample().
struct GridSampleOptions {
  GridSampleMode mode = GridSampleMode::bilinear;             ///< How elements are computed.
  GridSamplePadding padding_mode = GridSamplePadding::zeros;  ///< The values that are read outside the input.
  /// -1 and 1 are the centres of the corner elements. Otherwise -1 and 1 are the edges of the image.
  bool align_corners = false;
  bool in_elements = false;  ///< The grid holds positions of elements (0 for the first one) instead of -1 to 1.
};

/// Options of roi_align().
struct RoiAlignOptions {
  std::int64_t height = 1;          ///< Bins of a box from top to bottom.
  std::int64_t width = 1;           ///< Bins of a box from left to right.
  double spatial_scale = 1;         ///< Multiplies the coordinates of the boxes.
  std::int64_t sampling_ratio = 0;  ///< Samples of a bin along each axis. 0: one for each element that a bin covers.
  bool aligned = false;  ///< The centre of the first element is at 0.5, and boxes may be smaller than an element.
  bool maximum = false;  ///< Takes the largest product of a weight and an element in place of the mean (ONNX's rule).
};

/// Options of non_max_suppression().
struct NonMaxSuppressionOptions {
  double iou_threshold = 0.5;  ///< A box is dropped if its overlap (IoU) with a selected box is more than this.
  double score_threshold = -std::numeric_limits<double>::infinity();      ///< Boxes need a higher score.
  std::int64_t max_per_class = std::numeric_limits<std::int64_t>::max();  ///< The most boxes of a class of an image.
  bool centered = false;  ///< A box is (centre x, centre y, width, height). Otherwise (y, x, y, x) of two corners.
};

}  // namespace crisol
