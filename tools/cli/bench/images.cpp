// Convolution, pooling and normalisation.
#include "cli/bench/groups.h"
#include "crisol/autograd.h"
#include "crisol/functions/conv.h"
#include "crisol/functions/norm.h"
#include "crisol/functions/pool.h"
#include "crisol/ops/conv.h"
#include "crisol/ops/norm.h"
#include "crisol/ops/pool.h"
#include "crisol/random.h"

namespace crisol::cli::bench {

namespace {

constexpr const char* directions = "fwd|bwd|train";

double elements(const Tensor& x) { return static_cast<double>(x.numel()); }

Shape image_shape(const Values& v) { return {v.number("n"), v.number("c"), v.number("h"), v.number("w")}; }

/// Runs forward, then backward to all inputs. The inputs are leaves that have no gradient before each run.
template <class Forward>
std::function<void()> training(const std::vector<Tensor>& inputs, const Forward& forward) {
  const Tensor made = forward(inputs), dy = randn(made.shape()).to(made.dtype());
  return [=] {
    std::vector<Tensor> leaves;
    leaves.reserve(inputs.size());
    for (const Tensor& input : inputs) leaves.push_back(input.defined() ? input.detach().requires_grad_() : input);
    forward(leaves).backward(dy);
  };
}

Work prepare_conv2d(const Values& v) {
  Conv2dOptions options;
  options.stride = v.small("stride");
  options.padding = v.small("pad");
  options.dilation = v.small("dilation");
  options.groups = v.small("groups");
  const Tensor x = numbers(v, image_shape(v));
  const Tensor weight = numbers(v, {v.number("k"), v.number("c") / v.number("groups"), v.number("r"), v.number("s")});
  const Tensor bias = v.on("bias") ? numbers(v, {v.number("k")}) : Tensor();
  const WithPrecision same(precision_of(v));
  const Tensor y = ops::conv2d(x, weight, bias, options);
  const Tensor dy = numbers(v, y.shape());
  Work work;
  work.flops = 2 * elements(y) * static_cast<double>(weight.numel()) / static_cast<double>(v.number("k"));
  if (v.is("dir", "fwd")) {
    work.run = [=] { ops::conv2d(x, weight, bias, options); };
  } else if (v.is("dir", "bwd_data")) {
    work.run = [=] { ops::conv2d_backward_data(dy, weight, x.shape(), options); };
  } else if (v.is("dir", "bwd_weights")) {
    work.run = [=] { ops::conv2d_backward_weight(dy, x, weight.shape(), options); };
  } else {
    work.flops *= 3;
    work.run = training({x, weight, bias},
                        [=](const std::vector<Tensor>& in) { return conv2d(in[0], in[1], in[2], options); });
  }
  work.run = in_precision(precision_of(v), work.run);
  if (!v.on("kept")) work.renew = [=] { touch(weight); };
  return work;
}

Work prepare_max_pool(const Values& v, const Tensor& x, const MaxPool2dOptions& options) {
  const ops::MaxPool2dResult forward = ops::max_pool2d(x, options);
  const Tensor dy = numbers(v, forward.values.shape());
  Work work;
  const double size = element_bytes(v);
  const double once = size * (elements(x) + elements(forward.values)) +
                      4 * elements(forward.values);  // The image, the maxima, the indices.
  work.bytes = v.is("dir", "train") ? 2 * once : once;
  if (v.is("dir", "fwd"))
    work.run = [=] { ops::max_pool2d(x, options); };
  else if (v.is("dir", "bwd"))
    work.run = [=] { ops::max_pool2d_backward(dy, forward.indices, x.shape(), options); };
  else
    work.run = training({x}, [=](const std::vector<Tensor>& in) { return max_pool2d(in[0], options); });
  return work;
}

Work prepare_avg_pool(const Values& v, const Tensor& x, const AvgPool2dOptions& options) {
  const Tensor y = ops::avg_pool2d(x, options);
  const Tensor dy = numbers(v, y.shape());
  Work work;
  const double once = element_bytes(v) * (elements(x) + elements(y));
  work.bytes = v.is("dir", "train") ? 2 * once : once;
  if (v.is("dir", "fwd"))
    work.run = [=] { ops::avg_pool2d(x, options); };
  else if (v.is("dir", "bwd"))
    work.run = [=] { ops::avg_pool2d_backward(dy, x.shape(), options); };
  else
    work.run = training({x}, [=](const std::vector<Tensor>& in) { return avg_pool2d(in[0], options); });
  return work;
}

Work prepare_pool(const Values& v) {
  const Tensor x = numbers(v, image_shape(v));
  const IntPair kernel = v.small("r"), stride = v.small("stride"), padding = v.small("pad");
  if (v.is("kind", "max")) return prepare_max_pool(v, x, {kernel, stride, padding});
  return prepare_avg_pool(v, x, {kernel, stride, padding});
}

Work prepare_batch_norm(const Values& v) {
  const Tensor x = numbers(v, image_shape(v));
  const Shape channels{v.number("c")};
  const DType dtype = dtype_of(v);
  const Tensor weight = ones(channels, dtype), bias = zeros(channels, dtype), mean = zeros(channels, dtype),
               var = ones(channels, dtype);
  const BatchNormOptions options;
  const Tensor dy = numbers(v, x.shape());
  Work work;
  work.bytes = element_bytes(v) * 2 * elements(x);
  if (v.is("dir", "fwd")) {
    work.run = [=] { ops::batch_norm2d(x, weight, bias, mean, var, options); };
  } else if (v.is("dir", "bwd")) {
    const ops::BatchNormResult result = ops::batch_norm2d(x, weight, bias, mean, var, options);
    work.bytes = element_bytes(v) * 3 * elements(x);
    work.run = [=] { ops::batch_norm2d_backward(dy, x, weight, result.mean, result.invstd, true); };
  } else {
    work.bytes = element_bytes(v) * 5 * elements(x);
    work.run = training({x, weight, bias}, [=](const std::vector<Tensor>& in) {
      return batch_norm2d(in[0], in[1], in[2], mean, var, options);
    });
  }
  return work;
}

Work prepare_layer_norm(const Values& v) {
  const Tensor x = numbers(v, {v.number("rows"), v.number("cols")});
  const Shape row{v.number("cols")};
  const Tensor weight = ones(row, dtype_of(v)), bias = zeros(row, dtype_of(v)), dy = numbers(v, x.shape());
  Work work;
  work.bytes = element_bytes(v) * 2 * elements(x);
  if (v.is("dir", "fwd")) {
    work.run = [=] { ops::layer_norm(x, row, weight, bias); };
  } else if (v.is("dir", "bwd")) {
    const ops::LayerNormResult result = ops::layer_norm(x, row, weight, bias);
    work.bytes = element_bytes(v) * 3 * elements(x);
    work.run = [=] { ops::layer_norm_backward(dy, x, row, weight, result.mean, result.rstd); };
  } else {
    work.bytes = element_bytes(v) * 5 * elements(x);
    work.run = training({x, weight, bias},
                        [=](const std::vector<Tensor>& in) { return layer_norm(in[0], row, in[1], in[2]); });
  }
  return work;
}

Work prepare_norm(const Values& v) { return v.is("kind", "batch") ? prepare_batch_norm(v) : prepare_layer_norm(v); }

}  // namespace

const Case conv2d_case{
    "conv2d",
    "convolution of images (n, c, h, w), NCHW in and out",
    {{"n", "16", ">=1", "images"},
     {"c", "64", ">=1", "input channels"},
     {"h", "56", ">=1", "height"},
     {"w", "56", ">=1", "width"},
     {"k", "64", ">=1", "output channels"},
     {"r", "3", ">=1", "kernel's height"},
     {"s", "3", ">=1", "kernel's width"},
     {"stride", "1", ">=1", ""},
     {"pad", "1", ">=0", "on all sides"},
     {"dilation", "1", ">=1", ""},
     {"groups", "1", ">=1", "c for a depthwise convolution"},
     {"bias", "0", "0|1", ""},
     {"kept", "0", "0|1", "0: the weight is written in between, so all packing is included"},
     {"dir", "fwd", "fwd|bwd_data|bwd_weights|train", "train: forward, and backward to input, weight and bias"},
     precision_key(),
     dtype_key()},
    prepare_conv2d};

const Case pool_case{"pool",
                     "pooling of images (n, c, h, w)",
                     {{"kind", "max", "max|avg", ""},
                      {"n", "16", ">=1", "images"},
                      {"c", "64", ">=1", "channels"},
                      {"h", "112", ">=1", "height"},
                      {"w", "112", ">=1", "width"},
                      {"r", "2", ">=1", "window, r by r"},
                      {"stride", "2", ">=1", ""},
                      {"pad", "0", ">=0", "on all sides, at most r / 2"},
                      {"dir", "fwd", directions, "train: forward and backward"},
                      dtype_key()},
                     prepare_pool};

const Case norm_case{"norm",
                     "batch norm of images (n, c, h, w) in training, layer norm of rows",
                     {{"kind", "layer", "batch|layer", ""},
                      {"n", "16", ">=1", "images"},
                      {"c", "64", ">=1", "channels"},
                      {"h", "56", ">=1", "height"},
                      {"w", "56", ">=1", "width"},
                      {"rows", "4096", ">=1", "of layer norm"},
                      {"cols", "1024", ">=1", "of layer norm"},
                      {"dir", "fwd", directions, "train: forward, and backward to input, weight and bias"},
                      dtype_key()},
                     prepare_norm};

}  // namespace crisol::cli::bench
