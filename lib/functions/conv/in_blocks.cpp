#include "functions/conv/in_blocks.h"

#include "base/ceil_div.h"
#include "crisol/grad_mode.h"
#include "functions/conv/conv_blocks.h"
#include "ops/check.h"
#include "ops/pool/pool_blocks.h"

namespace crisol::ops {

namespace {

PoolGeometry of_blocks(PoolGeometry g, const Tensor& x, std::int64_t block) {
  g.planes = x.size(0) * ceil_div(x.size(1), block);
  return g;
}

void check(const char* op, const Tensor& x, std::int64_t block) {
  require(x.defined(), op, "the input is undefined");
  require(block == 4 || block == 8 || block == 16, op, "a block of ", block, " channels; 4, 8 or 16 is expected");
}

}  // namespace

Tensor conv2d_in_blocks(const Tensor& x, const Tensor& weight, const Conv2dOptions& options, std::int64_t block_in,
                        std::int64_t block) {
  constexpr const char* op = "conv2d_in_blocks";
  check(op, x, block);
  require(weight.defined(), op, "the weight is undefined");
  require(block_in > 0, op, "a block of ", block_in, " channels");
  const NoGrad no_grad;
  const Conv2dSizes sizes = conv2d_sizes(op, x.shape(), weight.shape(), options);
  const Tensor filters = sizes.groups > 1 ? detail::depthwise_weight_in_blocks(weight, block)
                                          : detail::weight_in_blocks(weight, block_in, block);
  const ProductResult made = conv2d_blocks(detail::to_blocks(x, block_in), filters, Tensor(), sizes, nullptr);
  return detail::from_blocks(made.y, sizes.outputs);
}

Tensor conv2d_separable_in_blocks(const Tensor& x, const Tensor& depthwise, const Tensor& pointwise,
                                  const Conv2dOptions& options, std::int64_t block) {
  constexpr const char* op = "conv2d_separable_in_blocks";
  check(op, x, block);
  require(depthwise.defined() && pointwise.defined(), op, "a weight is undefined");
  const NoGrad no_grad;
  const Conv2dSizes first = conv2d_sizes(op, x.shape(), depthwise.shape(), options);
  require(first.groups == first.channels && first.groups == first.outputs, op, first.groups, " groups of ",
          first.channels, " channels and ", first.outputs, " outputs; one group for each of them is expected");
  const Conv2dSizes second = conv2d_sizes(op, first.output_shape(), pointwise.shape(), {});
  require(second.taps() == 1, op, "the second weight's shape is ", pointwise.shape(), ", it must be (K, C, 1, 1)");
  const SeparableWeights weights{
      detail::depthwise_weight_in_blocks(depthwise, block), {}, detail::weight_in_blocks(pointwise, block, block), {}};
  const ProductResult made =
      conv2d_separable(detail::to_blocks(x, block), weights, first, second.outputs, nullptr, nullptr);
  return detail::from_blocks(made.y, second.outputs);
}

Tensor max_pool2d_in_blocks(const Tensor& x, const MaxPool2dOptions& options, std::int64_t block) {
  constexpr const char* op = "max_pool2d_in_blocks";
  check(op, x, block);
  const NoGrad no_grad;
  const PoolGeometry g = pool_geometry(op, x.shape(), options.kernel, options.stride, options.padding, options.dilation,
                                       options.ceil_mode);
  return detail::from_blocks(max_pool2d_blocks(detail::to_blocks(x, block), of_blocks(g, x, block)), x.size(1));
}

Tensor avg_pool2d_in_blocks(const Tensor& x, const AvgPool2dOptions& options, std::int64_t block) {
  constexpr const char* op = "avg_pool2d_in_blocks";
  check(op, x, block);
  require(options.divisor == 0, op, "the divisor is ", options.divisor, ", it must be 0");
  const NoGrad no_grad;
  const PoolGeometry g =
      pool_geometry(op, x.shape(), options.kernel, options.stride, options.padding, 1, options.ceil_mode);
  return detail::from_blocks(
      avg_pool2d_blocks(detail::to_blocks(x, block), of_blocks(g, x, block), options.count_include_pad), x.size(1));
}

}  // namespace crisol::ops

const crisol::detail::BlockOps& crisol::detail::block_ops() noexcept {
  static constexpr BlockOps all{ops::conv2d_in_blocks, ops::conv2d_separable_in_blocks, ops::max_pool2d_in_blocks,
                                ops::avg_pool2d_in_blocks};
  return all;
}
