// Convolution and pooling of channels in blocks. Programs of graphs run them on CPUs. These functions are for tests,
// and for reruns, which try and measure variants.
//
// Each function puts the channels of x (N, C, H, W) into blocks of `block`, runs the op named after it (without "in_"),
// and returns an ordinary tensor of the type of x. All tensors have types that kernels compute in f32, with any
// strides. There are no gradients. Errors (invalid_argument): a block other than 4, 8 and 16, and what conv2d and the
// poolings refuse.
#pragma once

#include "crisol/options/conv.h"
#include "crisol/options/pool.h"
#include "crisol/tensor.h"
#include "crisol/tuning.h"

namespace crisol::ops {

/// conv2d without a bias. The op is "conv2d_blocks". The channels of x are in blocks of `block_in`, and the channels of
/// the result are in blocks of `block`. There is one group, or one for each channel and output.
Tensor conv2d_in_blocks(const Tensor& x, const Tensor& weight, const Conv2dOptions& options, std::int64_t block_in,
                        std::int64_t block);

/// A depthwise convolution and then a 1x1 convolution: conv2d with the weight `depthwise`, which has one group for each
/// channel, and then conv2d with the weight `pointwise` (K, C, 1, 1). The op is "conv2d_separable". The options belong
/// to the first convolution, and its groups are the number of channels.
Tensor conv2d_separable_in_blocks(const Tensor& x, const Tensor& depthwise, const Tensor& pointwise,
                                  const Conv2dOptions& options, std::int64_t block);

/// The values of max_pool2d. The op is "max_pool2d_blocks".
Tensor max_pool2d_in_blocks(const Tensor& x, const MaxPool2dOptions& options, std::int64_t block);

/// avg_pool2d without a divisor. The op is "avg_pool2d_blocks".
Tensor avg_pool2d_in_blocks(const Tensor& x, const AvgPool2dOptions& options, std::int64_t block);

}  // namespace crisol::ops

/// The functions for a program that has a copy of lib/rerun of its own. block_ops() is exported for it.
struct crisol::detail::BlockOps {
  decltype(ops::conv2d_in_blocks)* conv2d;
  decltype(ops::conv2d_separable_in_blocks)* conv2d_separable;
  decltype(ops::max_pool2d_in_blocks)* max_pool2d;
  decltype(ops::avg_pool2d_in_blocks)* avg_pool2d;
};
