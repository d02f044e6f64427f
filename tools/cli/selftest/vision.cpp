// Resizing and sampling of images.
#include "crisol/functions/vision.h"
#include "cli/selftest/check.h"
#include "crisol/functions/conv.h"
#include "crisol/ops/vision.h"
#include "reference/images/conv2d.h"
#include "reference/images/vision.h"

namespace crisol::cli::selftest {

namespace {

using reference::random_values;
using reference::Values;

Values images_of(std::uint64_t seed, const Shape& shape, double low = -1, double high = 1) {
  return {shape, random_values(seed, shape.numel(), low, high)};
}

Tensor image_tensor(const Values& v) { return tensor_of(v.values, v.shape); }

/// Weights are rounded once, and each axis rounds its sums.
void check_interpolate(Check& check) {
  const Values x = images_of(1, {2, 3, 17, 23});
  for (const InterpolateMode mode :
       {InterpolateMode::nearest, InterpolateMode::nearest_exact, InterpolateMode::linear, InterpolateMode::cubic})
    for (const Shape& size : {Shape{34, 46}, Shape{9, 40}}) {
      const InterpolateOptions options{.size = size, .mode = mode};
      const Values expected = reference::interpolate(x, options);
      check.close(interpolate(image_tensor(x), options), expected.shape, expected.values, {16, 1});
    }
}

/// Places are rounded to 2^-24 of the width, and 16 products become a sum.
void check_grid_sample(Check& check) {
  const Values x = images_of(2, {2, 5, 9, 11}), grid = images_of(3, {2, 13, 7, 2}, -1.4, 1.4);
  const Values dy = images_of(4, {2, 5, 13, 7});
  for (const GridSampleMode mode : {GridSampleMode::bilinear, GridSampleMode::bicubic})
    for (const GridSamplePadding padding :
         {GridSamplePadding::zeros, GridSamplePadding::border, GridSamplePadding::reflection}) {
      const GridSampleOptions options{mode, padding, false};
      const Values expected = reference::grid_sample(x, grid, options);
      check.close(ops::grid_sample(image_tensor(x), image_tensor(grid), options), expected.shape, expected.values,
                  {128, 1});
      check.close(ops::grid_sample_backward(image_tensor(dy), image_tensor(grid), x.shape, options), x.shape,
                  reference::grid_sample_backward(dy, x.shape, grid, options).values, {256, 8});
    }
}

void check_conv_transpose(Check& check) {
  const Values x = images_of(5, {2, 6, 7, 9}), weight = images_of(6, {6, 4, 3, 3});
  const Shape shape{2, 8, 14, 18};
  const Conv2dOptions window{.stride = 2, .padding = 1, .groups = 2};
  check.close(conv_transpose2d(image_tensor(x), image_tensor(weight), Tensor(),
                               {.stride = 2, .padding = 1, .output_padding = 1, .groups = 2}),
              shape, reference::conv2d_backward_data(x.values, weight.values, weight.shape, shape, window), {16, 28});
}

void check_roi_align(Check& check) {
  const Values x = images_of(7, {2, 3, 9, 12});
  const Values boxes{{3, 4}, {0.7, 1.2, 7.6, 6.4, -2.3, 3.1, 4.4, 10.7, 5, 5, 5.4, 5.3}};
  const std::vector<std::int64_t> images{1, 0, 1};
  for (const std::int64_t ratio : {0, 2}) {
    const RoiAlignOptions options{.height = 3, .width = 2, .sampling_ratio = ratio};
    const Values expected = reference::roi_align(x, boxes, images, options);
    check.close(ops::roi_align(image_tensor(x), image_tensor(boxes), from_vector(images), options), expected.shape,
                expected.values, {256, 1});
  }
}

}  // namespace

std::vector<Op> vision() {
  return {{"interpolate", check_interpolate},
          {"grid_sample", check_grid_sample},
          {"roi_align", check_roi_align},
          {"conv_transpose2d", check_conv_transpose}};
}

}  // namespace crisol::cli::selftest
