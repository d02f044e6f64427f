// Pooling of channels in blocks, compared with the reference: odd windows, NaN, refusals.
#include "ops/pool/pool_blocks.h"

#include <limits>

#include "doctest/doctest.h"
#include "functions/conv/conv_blocks.h"
#include "functions/conv/in_blocks.h"
#include "reference/images/pool.h"
#include "reference/images/pool_cases.h"
#include "support/compare.h"
#include "support/coverage.h"

namespace crisol {

namespace {

using testing::check_close;
using testing::check_error;
using testing::for_each_variant;
using testing::MustRun;
using testing::random_values;
using testing::tensor_of;

/// The geometry of a pooling of images, whose channels are in blocks.
ops::PoolGeometry in_blocks(ops::PoolGeometry g, const Shape& image, std::int64_t block) {
  g.planes = image[0] * ((image[1] + block - 1) / block);
  return g;
}

}  // namespace

TEST_CASE("pool_blocks: windows of all kinds") {
  const MustRun max_variants("max_pool2d_blocks", {"outputs"}), avg_variants("avg_pool2d_blocks", {"outputs"});
  for (const std::int64_t block : {4, 8, 16}) {
    CAPTURE(block);
    for (const reference::MaxPoolCase& c : reference::max_pool_cases) {
      std::vector<double> x = random_values(1, c.shape.numel());
      x[static_cast<std::size_t>(c.shape.numel() / 2)] = std::numeric_limits<double>::quiet_NaN();
      const reference::MaxPool expected = reference::max_pool2d(x, c.shape, c.options);
      const MaxPool2dOptions& o = c.options;
      const ops::PoolGeometry g = in_blocks(
          ops::pool_geometry("test", c.shape, o.kernel, o.stride, o.padding, o.dilation, o.ceil_mode), c.shape, block);
      for_each_variant(max_variants, [&] {
        const Tensor y = ops::max_pool2d_blocks(detail::to_blocks(tensor_of(x, c.shape), block), g);
        check_close(detail::from_blocks(y, c.shape[1]), expected.shape, expected.values, {0, 0});
      });
    }
    const Shape shape{2, 11, 7, 9};
    const std::vector<double> x = random_values(2, shape.numel());
    for (const AvgPool2dOptions& o : reference::avg_pool_options) {
      if (o.divisor != 0) continue;
      const reference::AvgPool expected = reference::avg_pool2d(x, shape, o);
      const ops::PoolGeometry g =
          in_blocks(ops::pool_geometry("test", shape, o.kernel, o.stride, o.padding, 1, o.ceil_mode), shape, block);
      for_each_variant(avg_variants, [&] {
        const Tensor y = ops::avg_pool2d_blocks(detail::to_blocks(tensor_of(x, shape), block), g, o.count_include_pad);
        check_close(detail::from_blocks(y, shape[1]), expected.shape, expected.values, {4, 1});
      });
    }
  }
}

TEST_CASE("pool_blocks: ordinary tensors") {
  const Shape shape{2, 11, 7, 9};
  const std::vector<double> x = random_values(3, shape.numel());
  const MaxPool2dOptions max_options{.kernel = 3, .stride = 2, .padding = 1};
  const AvgPool2dOptions avg_options{.kernel = {2, 3}, .padding = 1, .count_include_pad = false};
  const reference::MaxPool largest = reference::max_pool2d(x, shape, max_options);
  const reference::AvgPool mean = reference::avg_pool2d(x, shape, avg_options);
  const Tensor images = tensor_of(x, shape);
  check_close(ops::max_pool2d_in_blocks(images, max_options, 8), largest.shape, largest.values, {0, 0});
  check_close(ops::avg_pool2d_in_blocks(images, avg_options, 4), mean.shape, mean.values, {4, 1});
  check_error([&] { ops::max_pool2d_in_blocks(images, max_options, 5); }, {"max_pool2d_in_blocks", "a block of 5"});
  check_error([&] { ops::avg_pool2d_in_blocks(images, {.kernel = 2, .divisor = 3}, 8); },
              {"avg_pool2d_in_blocks", "the divisor is 3"});
}

TEST_CASE("pool_blocks: refusals") {
  const ops::PoolGeometry g = ops::pool_geometry("test", {1, 2, 4, 4}, 2, 0, 0, 1, false);
  const Tensor x = ones({1, 2, 4, 4, 8});
  check_error(
      [&] {
        ops::max_pool2d_blocks(ones({1, 2, 4, 4}), g);
      },
      {"max_pool2d_blocks", "the input must have 5 axes (N, blocks, H, W, block), its shape is (1, 2, 4, 4)"});
  check_error(
      [&] {
        ops::max_pool2d_blocks(ones({1, 2, 4, 4, 5}), g);
      },
      {"max_pool2d_blocks", "a block of 5 channels; 4, 8 or 16 is expected"});
  check_error(
      [&] {
        ops::max_pool2d_blocks(ones({1, 3, 4, 4, 8}), g);
      },
      {"the input has shape (1, 3, 4, 4, 8), the pooling is of 2 planes of 4 x 4"});
  ops::PoolGeometry large = g, dilated = g;
  large.kernel_h = 5000;
  dilated.dilation_w = 2;
  check_error([&] { ops::max_pool2d_blocks(x, large); }, {"a window of 5000 x 2, more than 8192 elements"});
  check_error([&] { ops::avg_pool2d_blocks(x, dilated, true); }, {"the dilation is 1 x 2, it must be 1"});
}

}  // namespace crisol
