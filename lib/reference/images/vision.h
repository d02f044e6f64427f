// Resizing and sampling of images by plain loops in double.
#pragma once

#include <vector>

#include "crisol/options/vision.h"
#include "reference/cat.h"

namespace crisol::reference {

/// The weights of an axis' elements (`size` columns) for each element of the resized axis (`count` rows). `scale` is
/// the factor between the coordinates.
std::vector<std::vector<double>> interpolate_weights(std::int64_t size, std::int64_t count, double scale,
                                                     const InterpolateOptions& options);

/// x is (N, C, …). Computes the same as crisol::interpolate.
Values interpolate(const Values& x, const InterpolateOptions& options);

/// Samples x (N, C, H, W) at the places of grid (N, OH, OW, 2), or x (N, C, D, H, W) at the places of grid (N, OD, OH,
/// OW, 3).
Values grid_sample(const Values& x, const Values& grid, const GridSampleOptions& options);

/// The gradient of x for dy, in the shape of x.
Values grid_sample_backward(const Values& dy, const Shape& x, const Values& grid, const GridSampleOptions& options);

/// Means of samples in the bins of boxes (K, 4). `images` has the image of each box. There is no `maximum`.
Values roi_align(const Values& x, const Values& boxes, const std::vector<std::int64_t>& images,
                 const RoiAlignOptions& options);

}  // namespace crisol::reference
