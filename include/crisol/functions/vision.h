// Differentiable functions that resample and rearrange images. Errors (invalid_argument): an undefined tensor, ranks,
// sizes or dtypes that do not fit, options outside their range.
#pragma once

#include "crisol/options/conv.h"
#include "crisol/options/vision.h"
#include "crisol/tensor.h"

namespace crisol {

/// Resizes x (N, C, …) along the axes after the channels, as PyTorch's interpolate. The number of these axes is free. x
/// has floating-point numbers, or any dtype with the nearest modes. Whole numbers of at most 16 bits are computed in
/// f32, rounded to the nearest number, halves up, and limited to the range of their type. An axis of size n becomes
/// `size`, or floor(n · scale_factor). Element j of the result is read at
///
///     (j + 0.5) / s - 0.5              in the input, where s is the factor; scale_factor itself if it is given
///     j · (n - 1) / (size - 1)         with align_corners; 0 for size 1
///
/// and is computed from the neighbours of this place. The modes linear and cubic (with a = -0.75) read the border where
/// they need elements outside the input. `nearest` takes element floor(j / s). antialias stretches the weights by 1 / s
/// where s < 1, and uses only elements of the
/// input; cubic then has a = -0.5. It excludes align_corners.
CRISOL_API Tensor interpolate(const Tensor& x, const InterpolateOptions& options);

/// Reads x (N, C, H, W) at the places of grid (N, OH, OW, 2), as PyTorch's grid_sample. The result is (N, C, OH, OW).
/// A place is (across, down). -1 and 1 are the edges of the image, or the centres of its corner elements with
/// align_corners. Differentiable in x and grid. Places of halves are converted to f32.
///
/// A volume x (N, C, D, H, W) is read at the places of grid (N, OD, OH, OW, 3), and the result is (N, C, OD, OH, OW). A
/// place is (across, down, inward), along W, H and D. Bilinear then reads two neighbours along each of the three axes.
/// Bicubic is refused.
CRISOL_API Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options = {});

/// The places for grid_sample that an affine map gives: theta (N, 2, 3) times (across, down, 1) for every element of an
/// image of shape size = (N, C, H, W). The result is (N, H, W, 2). For a volume of shape (N, C, D, H, W), theta (N, 3,
/// 4) times (across, down, inward, 1) gives (N, D, H, W, 3).
CRISOL_API Tensor affine_grid(const Tensor& theta, const Shape& size, bool align_corners = false);

/// (N, C · factor², H, W) becomes (N, C, H · factor, W · factor): channel c · factor² + i · factor + j becomes the
/// elements (i, j) of squares of channel c. There may be any number of axes before the channels. Any dtype.
CRISOL_API Tensor pixel_shuffle(const Tensor& x, std::int64_t factor);

/// The reverse of pixel_shuffle: (N, C, H · factor, W · factor) becomes (N, C · factor², H, W).
CRISOL_API Tensor pixel_unshuffle(const Tensor& x, std::int64_t factor);

/// A convolution whose windows are deformed, as torchvision's deform_conv2d: conv2d, where each element of a window is
/// read bilinearly at its place plus an offset, and multiplied by a mask. Outside x are zeros. Shapes: x (N, C, H, W),
/// weight (K, C/groups, R, S), bias (K) or undefined, offset (N, 2·G·R·S, H', W') for any number G of groups of
/// channels that have their own offsets, and mask (N, G·R·S, H', W') or undefined. Channels 2k and 2k + 1 of the offset
/// are (down, across) for element k of the window. All have one dtype and gradients.
CRISOL_API Tensor deform_conv2d(const Tensor& x, const Tensor& offset, const Tensor& weight,
                                const Tensor& bias = Tensor(), const Tensor& mask = Tensor(),
                                const Conv2dOptions& options = {});

/// The features of boxes (regions of interest), as torchvision's roi_align: for x (N, C, H, W), boxes (K, 4) as (left,
/// top, right, bottom) and images (K), i64, the result is (K, C, height, width). Each element is the mean of samples in
/// a bin of the box of image images[k]. x is read bilinearly between its elements. Samples more than one element
/// outside the image are zeros. A missing image gives NaN. Differentiable in x.
CRISOL_API Tensor roi_align(const Tensor& x, const Tensor& boxes, const Tensor& images,
                            const RoiAlignOptions& options = {});

/// Selects boxes with high scores that overlap little, for each class of each image: boxes (N, K, 4) and scores (N, C,
/// K). The result has a row (image, class, box), i64, for each selected box. The rows of a class begin with
/// the highest score. Among boxes of equal score, the earlier one comes first. Waits for the number of rows. Has no
/// gradient.
CRISOL_API Tensor non_max_suppression(const Tensor& boxes, const Tensor& scores,
                                      const NonMaxSuppressionOptions& options = {});

}  // namespace crisol
