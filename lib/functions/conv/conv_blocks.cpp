#include "functions/conv/conv_blocks.h"

#include "base/ceil_div.h"
#include "crisol/functions/pad.h"
#include "functions/fuse/epilogue.h"

namespace crisol::detail {

namespace {

/// x with zeros at the end of the axis, so that the axis has the given size.
Tensor filled_up(const Tensor& x, int axis, std::int64_t size) {
  if (x.size(axis) == size) return x;
  std::vector<AxisPadding> paddings(static_cast<std::size_t>(x.dim() - axis));
  paddings.back() = {0, size - x.size(axis)};
  return pad(x, paddings);
}

}  // namespace

Tensor to_blocks(const Tensor& x, std::int64_t block) {
  const std::int64_t blocks = ceil_div(x.size(1), block);
  return filled_up(x, 1, blocks * block)
      .reshape({x.size(0), blocks, block, x.size(2), x.size(3)})
      .permute({0, 1, 3, 4, 2})
      .contiguous();
}

Tensor from_blocks(const Tensor& x, std::int64_t channels) {
  return x.permute({0, 1, 4, 2, 3})
      .contiguous()
      .reshape({x.size(0), x.size(1) * x.size(4), x.size(2), x.size(3)})
      .narrow(1, 0, channels);
}

Tensor channels_in_blocks(const Tensor& numbers, std::int64_t block) {
  const std::int64_t blocks = ceil_div(numbers.size(0), block);
  return filled_up(numbers.to(DType::f32), 0, blocks * block).reshape({blocks, block});
}

Tensor weight_in_blocks(const Tensor& weight, std::int64_t block_in, std::int64_t block) {
  const std::int64_t tile = ops::blocks_of_tile(weight.size(0), block);
  const std::int64_t groups = ceil_div(weight.size(0), tile * block), in_blocks = ceil_div(weight.size(1), block_in);
  return filled_up(filled_up(weight.to(DType::f32), 0, groups * tile * block), 1, in_blocks * block_in)
      .reshape({groups, tile, block, in_blocks, block_in, weight.size(2), weight.size(3)})
      .permute({0, 3, 5, 6, 4, 1, 2})
      .contiguous();
}

Tensor depthwise_weight_in_blocks(const Tensor& weight, std::int64_t block) {
  const std::int64_t blocks = ceil_div(weight.size(0), block);
  return filled_up(weight.to(DType::f32), 0, blocks * block)
      .reshape({blocks, block, weight.size(2), weight.size(3)})
      .permute({0, 2, 3, 1})
      .contiguous();
}

Tensor conv2d_blocks(const Tensor& x, const Tensor& weight, const Tensor& bias, const ops::Conv2dSizes& sizes,
                     const Epilogue* epilogue) {
  if (epilogue == nullptr) return ops::conv2d_blocks(x, weight, bias, sizes, nullptr).y;
  const std::int64_t block = weight.size(-1);
  return run_with_epilogue(
      {.name = "conv2d_blocks",
       .layout = {.shape = {sizes.images, ceil_div(sizes.outputs, block), sizes.out_h, sizes.out_w, block},
                  .by_block = true},
       .inputs = {x, weight, bias},
       .plain = [&] { return detail::conv2d_blocks(x, weight, bias, sizes, nullptr); },
       .raw = [&](const ops::ProductEpilogue& f) { return ops::conv2d_blocks(x, weight, bias, sizes, &f); },
       .backward = nullptr},
      *epilogue);
}

Tensor conv2d_separable(const Tensor& x, const ops::SeparableWeights& weights, const ops::Conv2dSizes& sizes,
                        std::int64_t outputs, const Epilogue* g, const Epilogue* f) {
  const std::int64_t block = weights.pointwise.size(-1);
  const auto two_passes = [&](const Epilogue* end) {
    return conv2d_blocks(conv2d_blocks(x, weights.depthwise, weights.shift, sizes, g), weights.pointwise, weights.bias,
                         ops::pointwise_sizes(sizes, outputs), end);
  };
  const auto middle = g == nullptr ? ops::ProductEpilogue() : function_of_element(*g, x);
  if (!middle) return two_passes(f);
  if (f == nullptr) return ops::conv2d_separable(x, weights, sizes, outputs, &*middle, nullptr).y;
  return run_with_epilogue(
      {.name = "conv2d_separable",
       .layout = {.shape = {sizes.images, ceil_div(outputs, block), sizes.out_h, sizes.out_w, block}, .by_block = true},
       .inputs = {x, weights.pointwise},
       .plain = [&] { return detail::conv2d_separable(x, weights, sizes, outputs, g, nullptr); },
       .raw =
           [&](const ops::ProductEpilogue& end) {
             return ops::conv2d_separable(x, weights, sizes, outputs, &*middle, &end);
           },
       .backward = nullptr},
      *f);
}

}  // namespace crisol::detail
