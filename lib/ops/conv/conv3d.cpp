// Convolution of volumes and its gradients, computed as convolutions of images.
//
// A slice of the result is a convolution of an image. The channels of this image are the channels of all slices of x
// that the result's slice reads. So x (N, C, D, H, W) becomes images (N·D', C·Q, H, W), and a slice of x is in up to Q
// / stride images. Images are made for a few slices of the result at a time, because the memory for them is limited.
// The weight (K, C/G, Q, R, S) is used as it is stored, as (K, C/G·Q, R, S). A kernel only along the depth needs no
// copies: x itself is the images (N, C, D, H·W).
#include <algorithm>

#include "crisol/ops/conv.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/pad.h"
#include "crisol/ops/view.h"
#include "ops/check.h"
#include "ops/conv/conv2d_problem.h"
#include "ops/numbers.h"
#include "ops/result.h"
#include "ops/storage.h"
#include "ops/window.h"
#include "tensor/impl.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

constexpr std::int64_t max_image_bytes = std::int64_t{1} << 28;  // The default limit.

/// A piece of the result: the slices slice … slice + slices - 1 of some volumes.
struct VolumePiece {
  std::int64_t volume, volumes, slice, slices;
};

class VolumeConvolution {
 public:
  /// Checks shapes and options against each other. The error names op.
  VolumeConvolution(const char* op, const Shape& input, const Shape& weight, const Conv3dOptions& options);

  const Shape& output() const noexcept { return output_; }
  /// Whether the kernel has one row and one column, with stride 1 and no padding. Then whole volumes can be treated as
  /// images.
  bool is_line() const noexcept { return is_line_; }

  /// The convolution of images: the shapes of its operands for `count` images, and its options.
  Shape image_input(std::int64_t count) const;
  Shape image_weight() const;
  Shape image_output(std::int64_t count) const;
  const Conv2dOptions& image_options() const noexcept { return image_options_; }
  /// The number of images of a piece.
  static std::int64_t images_in(const VolumePiece& piece) noexcept { return piece.volumes * piece.slices; }

  /// Calls run(piece) for each piece of the result.
  template <class Run>
  void for_pieces(const Target& target, Run run) const;

  /// Pads x, or its shape, at both ends of the depth.
  Shape padded_shape() const;
  Tensor padded(const Tensor& x) const;
  Tensor without_padding(const Tensor& x) const { return narrow(x, 2, options_.padding.d, input_[2]); }
  /// The slices that a piece reads, as (volumes, slices, C, Q, H, W). Windows that overlap share elements.
  Tensor windows_of(const Tensor& padded, const VolumePiece& piece) const;
  /// A piece of the result as (volumes, slices, K, H', W').
  static Tensor piece_of(const Tensor& result, const VolumePiece& piece);

 private:
  Shape input_, weight_, output_;
  Conv3dOptions options_;
  bool is_line_;
  Conv2dOptions image_options_;
};

VolumeConvolution::VolumeConvolution(const char* op, const Shape& input, const Shape& weight, const Conv3dOptions& o)
    : input_(input), weight_(weight), options_(o) {
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
  is_line_ =
      weight[3] == 1 && weight[4] == 1 && o.stride.h == 1 && o.stride.w == 1 && o.padding.h == 0 && o.padding.w == 0;
  if (is_line_)
    image_options_ = {.stride = {o.stride.d, 1}, .padding = {o.padding.d, 0}, .dilation = {o.dilation.d, 1}};
  else
    image_options_ = {.stride = {o.stride.h, o.stride.w},
                      .padding = {o.padding.h, o.padding.w},
                      .dilation = {o.dilation.h, o.dilation.w}};
  image_options_.groups = o.groups;
}

Shape VolumeConvolution::image_input(std::int64_t count) const {
  if (is_line_) return {input_[0], input_[1], input_[2], input_[3] * input_[4]};
  return {count, input_[1] * weight_[2], input_[3], input_[4]};
}

Shape VolumeConvolution::image_weight() const {
  if (is_line_) return {weight_[0], weight_[1], weight_[2], 1};
  return {weight_[0], weight_[1] * weight_[2], weight_[3], weight_[4]};
}

Shape VolumeConvolution::image_output(std::int64_t count) const {
  if (is_line_) return {output_[0], output_[1], output_[2], output_[3] * output_[4]};
  return {count, output_[1], output_[3], output_[4]};
}

template <class Run>
void VolumeConvolution::for_pieces(const Target& target, Run run) const {
  const std::int64_t most = target.bytes_at_once(max_image_bytes);
  const std::int64_t image = std::max<std::int64_t>(4 * image_input(1).numel(), 1);
  const std::int64_t images = std::max<std::int64_t>(most / image, 1), depth = output_[2];
  const std::int64_t volumes = std::max<std::int64_t>(images / depth, 1), slices = std::min(images, depth);
  for (std::int64_t volume = 0; volume < output_[0]; volume += volumes)
    for (std::int64_t slice = 0; slice < depth; slice += slices)
      run(VolumePiece{volume, std::min(volumes, output_[0] - volume), slice, std::min(slices, depth - slice)});
}

Shape VolumeConvolution::padded_shape() const {
  Shape shape = input_;
  shape[2] += 2 * std::int64_t{options_.padding.d};
  return shape;
}

Tensor VolumeConvolution::padded(const Tensor& x) const {
  const std::int64_t padding = options_.padding.d;
  return padding == 0 ? x : pad(x, {{}, {}, {padding, padding}});
}

Tensor VolumeConvolution::windows_of(const Tensor& padded, const VolumePiece& piece) const {
  const Shape& s = padded.strides();
  const std::int64_t step = s[2] * options_.stride.d;
  return make_view(padded, {piece.volumes, piece.slices, input_[1], weight_[2], input_[3], input_[4]},
                   {s[0], step, s[1], s[2] * options_.dilation.d, s[3], s[4]},
                   padded.offset() + piece.volume * s[0] + piece.slice * step);
}

Tensor VolumeConvolution::piece_of(const Tensor& result, const VolumePiece& piece) {
  const Tensor volumes = narrow(result, 0, piece.volume, piece.volumes);
  return transpose(narrow(volumes, 2, piece.slice, piece.slices), 1, 2);
}

}  // namespace

Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv3dOptions& options) {
  constexpr const char* op = "conv3d";
  require_numbers(op, x.dtype());
  require_dtype(op, "the weight", weight, x.dtype());
  require_device(op, "the input", x, "the weight", weight);
  const VolumeConvolution c(op, x.shape(), weight.shape(), options);
  if (bias.defined()) require_operand(op, "the input", x, "the bias", bias, {weight.size(0)}, x.dtype());
  const Tensor filters = reshape(weight, c.image_weight());
  const auto convolve = [&](const Tensor& images, std::int64_t count) {
    return conv2d(reshape(images, c.image_input(count)), filters, bias, c.image_options());
  };
  if (c.is_line()) return reshape(convolve(x, x.size(0)), c.output());
  const Tensor y = empty(c.output(), x.dtype(), x.device()), source = c.padded(x);
  c.for_pieces(target_of(state_of(x)), [&](const VolumePiece& piece) {
    const Tensor to = c.piece_of(y, piece);
    copy_into(to, reshape(convolve(c.windows_of(source, piece), c.images_in(piece)), to.shape()));
  });
  return y;
}

Tensor conv3d_backward_data(const Tensor& dy, const Tensor& weight, const Shape& input, const Conv3dOptions& options) {
  constexpr const char* op = "conv3d_backward_data";
  require_numbers(op, weight.dtype());
  const VolumeConvolution c(op, input, weight.shape(), options);
  require_operand(op, "the weight", weight, "the gradient", dy, c.output(), weight.dtype());
  const auto gradient = [&](const Tensor& images, const Tensor& of, std::int64_t count) {
    return conv2d_backward_data(reshape(images, c.image_output(count)), reshape(of, c.image_weight()),
                                c.image_input(count), c.image_options());
  };
  if (c.is_line()) return reshape(gradient(dy, weight, input[0]), input);
  // The pieces add up in the type of the computation. They are copies of dy, so they become this type without another
  // pass.
  const DType computed = value_type(dy.dtype());
  const Tensor dx = zeros(c.padded_shape(), computed, dy.device()), filters = cast(weight, computed);
  c.for_pieces(target_of(state_of(dy)), [&](const VolumePiece& piece) {
    const Tensor windows = c.windows_of(dx, piece);
    const Tensor images = cast(c.piece_of(dy, piece), computed);
    const Tensor parts = reshape(gradient(images, filters, c.images_in(piece)), windows.shape());
    // At one tap, the windows share no elements.
    for (std::int64_t tap = 0; tap < weight.size(2); ++tap)
      accumulate_into(select(windows, 3, tap), select(parts, 3, tap));
  });
  return contiguous(cast(c.without_padding(dx), dy.dtype()));
}

Tensor conv3d_backward_weight(const Tensor& dy, const Tensor& x, const Shape& weight, const Conv3dOptions& options) {
  constexpr const char* op = "conv3d_backward_weight";
  require_floating(op, "the input", x);
  const VolumeConvolution c(op, x.shape(), weight, options);
  require_operand(op, "the input", x, "the gradient", dy, c.output(), x.dtype());
  const auto gradient = [&](const Tensor& dy_images, const Tensor& images, std::int64_t count) {
    return reshape(conv2d_backward_weight(reshape(dy_images, c.image_output(count)),
                                          reshape(images, c.image_input(count)), c.image_weight(), c.image_options()),
                   weight);
  };
  if (c.is_line()) return gradient(dy, x, x.size(0));
  const DType computed = value_type(x.dtype());
  const Tensor source = c.padded(x);
  Tensor dw;
  c.for_pieces(target_of(state_of(x)), [&](const VolumePiece& piece) {
    const Tensor dy_images = cast(c.piece_of(dy, piece), computed),
                 images = cast(c.windows_of(source, piece), computed);
    const Tensor part = gradient(dy_images, images, c.images_in(piece));
    if (dw.defined())
      accumulate_into(dw, part);
    else
      dw = part;
  });
  return dw.defined() ? cast(dw, x.dtype()) : zeros(weight, x.dtype(), x.device());
}

void conv3d_into(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias,
                 const Conv3dOptions& options) {
  deliver("conv3d", {&y}, {&x, &weight, &bias}, [&] { return std::array{conv3d(x, weight, bias, options)}; });
}

void conv3d_backward_data_into(const Tensor& dx, const Tensor& dy, const Tensor& weight, const Shape& input,
                               const Conv3dOptions& options) {
  deliver("conv3d_backward_data", {&dx}, {&dy, &weight},
          [&] { return std::array{conv3d_backward_data(dy, weight, input, options)}; });
}

void conv3d_backward_weight_into(const Tensor& dw, const Tensor& dy, const Tensor& x, const Shape& weight,
                                 const Conv3dOptions& options) {
  deliver("conv3d_backward_weight", {&dw}, {&dy, &x},
          [&] { return std::array{conv3d_backward_weight(dy, x, weight, options)}; });
}

}  // namespace crisol::ops
