// Convolution of volumes and its gradients by those of images.
//
// A slice of the result is a convolution of an image, whose channels are those of all slices of x that the slice reads.
// So x (N, C, D, H, W) becomes images (N·D', C·Q, H, W): a slice of x stands in up to Q / stride of them. The weight
// (K, C/G, Q, R, S) is that of images already, (K, C/G·Q, R, S). A kernel that lies along the depth needs no copies: x
// is images (N, C, D, H·W).
#include "crisol/ops/conv.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/pad.h"
#include "crisol/ops/view.h"
#include "ops/check.h"
#include "ops/conv/conv2d_problem.h"
#include "ops/window.h"
#include "tensor/impl.h"

namespace crisol::ops {

namespace {

/// A convolution of images.
struct ImageConvolution {
  Shape input, weight, output;
  Conv2dOptions options;
};

class VolumeConvolution {
 public:
  /// Checks shapes and options against each other. Throws, naming op.
  VolumeConvolution(const char* op, const Shape& input, const Shape& weight, const Conv3dOptions& options);

  const Shape& output() const noexcept { return output_; }
  const ImageConvolution& images() const noexcept { return images_; }

  /// x as the input of the convolution of images.
  Tensor unfolded(const Tensor& x) const;
  /// The gradient of x from the gradient of the images: sums over all images that have a slice of x.
  Tensor folded(const Tensor& images) const;
  /// The result, or its gradient, from that of the convolution of images, and back.
  Tensor result_of(const Tensor& images) const;
  Tensor images_of(const Tensor& result) const;

 private:
  /// The slices of x, with padding at both ends of the depth, as (N, D', C, Q, H, W). `padded` is (N, C, D + padding,
  /// H, W). Windows that overlap share elements, so the view is for reading.
  Tensor windows_of(const Tensor& padded) const;

  Shape input_, output_;
  std::int64_t taps_;  ///< Of the depth.
  Conv3dOptions options_;
  bool is_line_;  ///< The kernel has one row and one column, which move over all rows and columns.
  ImageConvolution images_;
};

VolumeConvolution::VolumeConvolution(const char* op, const Shape& input, const Shape& weight, const Conv3dOptions& o)
    : input_(input), options_(o) {
  require(input.rank() == 5, op, "the input must have 5 axes (N, C, D, H, W), its shape is ", input);
  require(weight.rank() == 5, op, "the weight must have 5 axes (K, C/groups, Q, R, S), its shape is ", weight);
  require_channels(op, input, weight, o.groups);
  const auto count = [&](const char* name, int axis, int stride, int padding, int dilation) {
    return window_count(op, name, {input[axis], static_cast<int>(weight[axis]), stride, padding, dilation});
  };
  const std::int64_t depth = count("depth", 2, o.stride.d, o.padding.d, o.dilation.d),
                     height = count("height", 3, o.stride.h, o.padding.h, o.dilation.h),
                     width = count("width", 4, o.stride.w, o.padding.w, o.dilation.w);
  output_ = {input[0], weight[0], depth, height, width};
  taps_ = weight[2];
  is_line_ =
      weight[3] == 1 && weight[4] == 1 && o.stride.h == 1 && o.stride.w == 1 && o.padding.h == 0 && o.padding.w == 0;
  if (is_line_)
    images_ = {{input[0], input[1], input[2], input[3] * input[4]},
               {weight[0], weight[1], taps_, 1},
               {input[0], weight[0], depth, height * width},
               {.stride = {o.stride.d, 1}, .padding = {o.padding.d, 0}, .dilation = {o.dilation.d, 1}}};
  else
    images_ = {{input[0] * depth, input[1] * taps_, input[3], input[4]},
               {weight[0], weight[1] * taps_, weight[3], weight[4]},
               {input[0] * depth, weight[0], height, width},
               {.stride = {o.stride.h, o.stride.w},
                .padding = {o.padding.h, o.padding.w},
                .dilation = {o.dilation.h, o.dilation.w}}};
  images_.options.groups = o.groups;
}

Tensor VolumeConvolution::windows_of(const Tensor& padded) const {
  const Shape& s = padded.strides();
  return make_view(padded, {input_[0], output_[2], input_[1], taps_, input_[3], input_[4]},
                   {s[0], s[2] * options_.stride.d, s[1], s[2] * options_.dilation.d, s[3], s[4]}, padded.offset());
}

Tensor VolumeConvolution::unfolded(const Tensor& x) const {
  if (is_line_) return reshape(x, images_.input);
  const std::int64_t padding = options_.padding.d;
  return reshape(windows_of(padding == 0 ? x : pad(x, {{}, {}, {padding, padding}})), images_.input);
}

Tensor VolumeConvolution::folded(const Tensor& images) const {
  if (is_line_) return reshape(images, input_);
  const std::int64_t padding = options_.padding.d;
  Shape shape = input_;
  shape[2] += 2 * padding;
  const Tensor dx = zeros(shape, DType::f32, images.device()), windows = windows_of(dx);
  const Tensor parts = reshape(images, windows.shape());
  // The windows share no elements at one tap.
  for (std::int64_t tap = 0; tap < taps_; ++tap) add_into(select(windows, 3, tap), select(parts, 3, tap));
  return contiguous(narrow(dx, 2, padding, input_[2]));
}

Tensor VolumeConvolution::result_of(const Tensor& images) const {
  if (is_line_) return reshape(images, output_);
  return contiguous(transpose(reshape(images, {output_[0], output_[2], output_[1], output_[3], output_[4]}), 1, 2));
}

Tensor VolumeConvolution::images_of(const Tensor& result) const {
  return reshape(is_line_ ? result : transpose(result, 1, 2), images_.output);
}

}  // namespace

Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv3dOptions& options) {
  constexpr const char* op = "conv3d";
  require_dtype(op, "the input", x, DType::f32);
  require_dtype(op, "the weight", weight, DType::f32);
  require_device(op, "the input", x, "the weight", weight);
  const VolumeConvolution c(op, x.shape(), weight.shape(), options);
  if (bias.defined()) require_operand(op, "the input", x, "the bias", bias, {weight.size(0)});
  return c.result_of(conv2d(c.unfolded(x), reshape(weight, c.images().weight), bias, c.images().options));
}

Tensor conv3d_backward_data(const Tensor& dy, const Tensor& weight, const Shape& input, const Conv3dOptions& options) {
  constexpr const char* op = "conv3d_backward_data";
  require_dtype(op, "the weight", weight, DType::f32);
  const VolumeConvolution c(op, input, weight.shape(), options);
  require_operand(op, "the weight", weight, "the gradient", dy, c.output());
  const ImageConvolution& images = c.images();
  return c.folded(conv2d_backward_data(c.images_of(dy), reshape(weight, images.weight), images.input, images.options));
}

Tensor conv3d_backward_weight(const Tensor& dy, const Tensor& x, const Shape& weight, const Conv3dOptions& options) {
  constexpr const char* op = "conv3d_backward_weight";
  require_dtype(op, "the input", x, DType::f32);
  const VolumeConvolution c(op, x.shape(), weight, options);
  require_operand(op, "the input", x, "the gradient", dy, c.output());
  const ImageConvolution& images = c.images();
  return reshape(conv2d_backward_weight(c.images_of(dy), c.unfolded(x), images.weight, images.options), weight);
}

}  // namespace crisol::ops
