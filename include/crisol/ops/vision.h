// Raw ops on images, not recorded by autograd. The differentiable functions are in crisol/functions/vision.h.
//
// Tensors are f32 or f16 with any strides, unless a comment says otherwise. Results are contiguous. Errors
// (invalid_argument), with all tensors unchanged: an undefined tensor, ranks, sizes, dtypes or devices that do not fit.
#pragma once

#include "crisol/options/vision.h"
#include "crisol/tensor.h"

namespace crisol::ops {

/// Reads x (N, C, H, W) at the places of grid (N, OH, OW, 2). The result is (N, C, OH, OW). A volume x is (N, C, D, H,
/// W), and its grid is (N, OD, OH, OW, 3).
CRISOL_API Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options = {});
CRISOL_API void grid_sample_into(const Tensor& out, const Tensor& x, const Tensor& grid,
                                 const GridSampleOptions& options = {});

/// The gradient of x, in the shape `input` of x. Sums have a fixed order, so every run gives the same bits.
CRISOL_API Tensor grid_sample_backward(const Tensor& dy, const Tensor& grid, const Shape& input,
                                       const GridSampleOptions& options = {});
CRISOL_API void grid_sample_backward_into(const Tensor& out, const Tensor& dy, const Tensor& grid, const Shape& input,
                                          const GridSampleOptions& options = {});

/// The gradient of the grid.
CRISOL_API Tensor grid_sample_backward_grid(const Tensor& dy, const Tensor& x, const Tensor& grid,
                                            const GridSampleOptions& options = {});
CRISOL_API void grid_sample_backward_grid_into(const Tensor& out, const Tensor& dy, const Tensor& x, const Tensor& grid,
                                               const GridSampleOptions& options = {});

/// Repeats each element of x (…, H, W) `down` times along H and `across` times along W. Any dtype.
CRISOL_API Tensor enlarge(const Tensor& x, std::int64_t down, std::int64_t across);
CRISOL_API void enlarge_into(const Tensor& out, const Tensor& x, std::int64_t down, std::int64_t across);

/// The means of samples in the bins of boxes: (K, C, height, width) for x (N, C, H, W), boxes (K, 4) as (left, top,
/// right, bottom), and images (K), i64. A box of an image that x does not have gives NaN.
CRISOL_API Tensor roi_align(const Tensor& x, const Tensor& boxes, const Tensor& images,
                            const RoiAlignOptions& options = {});

/// The gradient of x. Sums have a fixed order, so every run gives the same bits.
CRISOL_API Tensor roi_align_backward(const Tensor& dy, const Tensor& x, const Tensor& boxes, const Tensor& images,
                                     const RoiAlignOptions& options = {});

/// Boxes with high scores that overlap little: rows (image, class, box), i64, for boxes (N, K, 4) and scores (N, C, K).
/// Waits for the number of rows.
CRISOL_API Tensor non_max_suppression(const Tensor& boxes, const Tensor& scores,
                                      const NonMaxSuppressionOptions& options = {});

}  // namespace crisol::ops
