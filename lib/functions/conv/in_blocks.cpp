// Ops of channels in blocks, with the layouts before and behind them.
#include "base/ceil_div.h"
#include "crisol/grad_mode.h"
#include "crisol/ops/blocks.h"
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
