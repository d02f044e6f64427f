// Convolutions with the channels in blocks (ops/conv/conv2d_blocks.h), for programs of graphs. They have no gradients.
#pragma once

#include "crisol/fuse.h"
#include "crisol/tensor.h"
#include "ops/conv/conv2d_separable.h"

namespace crisol::detail {

/// (N, C, H, W) as (N, ceil(C / block), H, W, block), with zeros for missing channels.
Tensor to_blocks(const Tensor& x, std::int64_t block);
/// The first `channels` channels of a tensor in blocks, as (N, channels, H, W).
Tensor from_blocks(const Tensor& x, std::int64_t channels);
/// One number for each channel: (C) as (ceil(C / block), block) of f32.
Tensor channels_in_blocks(const Tensor& numbers, std::int64_t block);

/// The weight (K, C, R, S) of a convolution, as ops::conv2d_blocks takes it for inputs in blocks of `block_in`, in f32.
Tensor weight_in_blocks(const Tensor& weight, std::int64_t block_in, std::int64_t block);
/// The same for a depthwise convolution, whose weight is (C, 1, R, S).
Tensor depthwise_weight_in_blocks(const Tensor& weight, std::int64_t block);

/// ops::conv2d_blocks, followed by an epilogue if `epilogue` is not null.
Tensor conv2d_blocks(const Tensor& x, const Tensor& weight, const Tensor& bias, const ops::Conv2dSizes& sizes,
                     const Epilogue* epilogue);

/// ops::conv2d_separable with the functions g and f, which may be null. If no kernel can compute g as a function of
/// single elements, the convolutions run one after the other.
Tensor conv2d_separable(const Tensor& x, const ops::SeparableWeights& weights, const ops::Conv2dSizes& sizes,
                        std::int64_t outputs, const Epilogue* g, const Epilogue* f);

}  // namespace crisol::detail
