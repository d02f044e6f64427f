#include "ops/conv/conv_pairs.h"

#include <algorithm>

#include "base/byte_dtype.h"
#include "base/ceil_div.h"
#include "conv/parameters.h"
#include "dispatch/device_defines.h"
#include "dispatch/work_split.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

using kernels::number;

namespace {

constexpr const char* of_windows = "convolve_pairs";

/// How many neighbours of a result the kernel reads together, of rows of so many pixels.
std::int32_t run_of(std::int64_t width) {
  for (const std::int32_t run : {16, 8, 4, 2})
    if (width % run == 0) return run;
  return 1;
}

/// The pixels of a unit of work: those of a tile, or all pixels if they are few and the filters do not stay in the L2
/// cache. Each part of the filters is then read from memory once.
std::int64_t columns_of_unit(std::int64_t columns, std::int64_t tile, std::int64_t words_of_filters) {
  constexpr std::int64_t most_tiles = 4, words_in_cache = std::int64_t{1} << 18;
  const std::int64_t tiles = ceil_div(columns, tile);
  return tiles <= most_tiles && words_of_filters > words_in_cache ? tiles * tile : tile;
}

/// The padded phases of x, and behind them the zero point of their words.
Tensor phases_of(const Tensor& x, const Tensor& zero, const PairWindows& w, std::int64_t phase_h,
                 std::int64_t phase_w) {
  runtime::DeviceState& device = state_of(x);
  const Contiguous images(x);
  const std::int64_t rows =
      x.size(0) * word_layout(device, x.size(1), 1).groups * w.strides[0] * w.strides[1] * phase_h;
  const Tensor y = empty({rows * phase_w + 1}, DType::i32, x.device());
  const kernels::PairImageParameters parameters{.images = number(x.size(0)),
                                                .channels = number(x.size(1)),
                                                .height = number(x.size(2)),
                                                .width = number(x.size(3)),
                                                .pad_h = number(w.pads[0]),
                                                .pad_w = number(w.pads[1]),
                                                .stride_h = number(w.strides[0]),
                                                .stride_w = number(w.strides[1]),
                                                .phase_h = number(phase_h),
                                                .phase_w = number(phase_w),
                                                .has_zero = zero.defined() ? 1 : 0,
                                                .unused = 0};
  runtime::Defines defines = number_defines(device);
  defines.add({"T", number_type(x.dtype())});
  runtime::launch(device, {"conv/cpu/pair_images.cl", "pair_images", defines},
                  dispatch::persistent_range(dispatch::target_of(device), rows, phase_w), in(images),
                  zero.defined() ? in(zero) : runtime::BufferView(in(images)), out(y), struct_arg(parameters));
  return y;
}

}  // namespace

Shape shape_of_pairs(const Tensor& x, std::int64_t filters, const PairWindows& w) {
  Shape shape{x.size(0), filters};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t size = x.size(2 + static_cast<int>(i)) + w.pads[i] + w.pads_after[i];
    const std::int64_t window = (w.taps[i] - 1) * w.dilations[i] + 1;
    require(size >= window, of_windows, "a window of ", window, " elements is larger than a padded image of ", size);
    shape.push_back((size - window) / w.strides[i] + 1);
  }
  return shape;
}

Tensor convolve_pairs(const Tensor& x, const Tensor& zero, const Tensor& filters, const PairWindows& w,
                      const Scaling& by, const ProductEpilogue* f) {
  require(x.dim() == 4 && is_of_bytes(x.dtype()), of_windows, "images of u8 or i8 expected");
  require(!zero.defined() || (zero.dtype() == x.dtype() && zero.numel() == 1), of_windows,
          "a zero point of one number of ", x.dtype(), " expected");
  runtime::DeviceState& device = state_of(x);
  const WordLayout words = word_layout(device, x.size(1), w.taps[0] * w.taps[1]);
  const std::int64_t m = filters.size(1);
  require(filters.size(2) == words.row, of_windows, "filters of ", filters.size(2), " words, ", words.row,
          " words expected");
  const Tensor y = empty(shape_of_pairs(x, m, w), by.result, x.device());
  if (y.numel() == 0) return y;
  require(x.size(1) > 0, of_windows, "images without channels");
  const std::int64_t width = y.size(3), pixels = y.size(2) * width, columns = y.size(0) * pixels;
  const auto phase_size = [&](std::size_t i) {
    return y.size(2 + static_cast<int>(i)) + (w.taps[i] - 1) * w.dilations[i] / w.strides[i];
  };
  const std::int64_t phase_h = phase_size(0), phase_w = phase_size(1);
  require(columns < INT32_MAX && 16 * words.groups * w.strides[0] * w.strides[1] * phase_h * phase_w < INT32_MAX,
          of_windows, "images of shape ", x.shape(), " are too large");

  const dispatch::Target target = dispatch::target_of(device);
  const std::int64_t tile_rows = pair_rows(device), tiles = ceil_div(m, tile_rows);
  const std::int64_t tile = columns_of_unit(columns, pair_columns(device), m * words.count);
  const std::int64_t across = ceil_div(columns, tile);
  // With few pixels the filters are cut too, although each block packs the windows again.
  const std::int64_t wanted = std::min(tiles, ceil_div(std::int64_t{target.info.compute_units}, across));
  const std::int64_t block = ceil_div(tiles, wanted) * tile_rows;
  const std::int64_t units = across * ceil_div(m, block);
  const runtime::NdRange range =
      dispatch::persistent_range(target, units, (block / tile_rows + tile / 8) * (words.count + 32));
  const Tensor images = phases_of(x, zero, w, phase_h, phase_w);
  const Tensor scratch =
      empty({static_cast<std::int64_t>(range.global[0]), words.panel_lines, tile}, DType::i32, x.device());
  const kernels::PairConvolutionParameters parameters{.images = number(x.size(0)),
                                                      .channels = number(x.size(1)),
                                                      .filters = number(m),
                                                      .block = number(block),
                                                      .taps_h = number(w.taps[0]),
                                                      .taps_w = number(w.taps[1]),
                                                      .stride_h = number(w.strides[0]),
                                                      .stride_w = number(w.strides[1]),
                                                      .dilation_h = number(w.dilations[0]),
                                                      .dilation_w = number(w.dilations[1]),
                                                      .phase = number(phase_h * phase_w),
                                                      .phase_w = number(phase_w),
                                                      .pixels = number(pixels),
                                                      .width = number(width),
                                                      .run = run_of(phase_w == width ? pixels : width),
                                                      .panels = number(tile / 16)};
  const ScaledArgs scaled(of_windows, by, y, m, columns, {.row = pixels, .width = pixels, .image = m * pixels}, f);
  runtime::launch(device,
                  {"conv/cpu/convolve_pairs.cl", "convolve_pairs", pair_defines(device, by.result, f), scaled.prelude},
                  range, in(filters), in(images), out(scratch), scaled.y, scaled.left, scaled.right, scaled.over,
                  scaled.bias, scaled.zero, struct_arg(parameters), struct_arg(scaled.parameters), scaled.e0, scaled.e1,
                  struct_arg(scaled.strides), scaled.scalars);
  return y;
}

}  // namespace crisol::ops
