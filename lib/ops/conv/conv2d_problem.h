// What the variants of the three convolution ops get.
#pragma once

#include "crisol/ops/conv.h"
#include "crisol/precision.h"
#include "dispatch/matrix_unit.h"
#include "dispatch/variant.h"
#include "ops/product/epilogue.h"
#include "runtime/launch.h"

namespace crisol::ops {

struct Conv2dSizes {
  std::int64_t images, channels, height, width;  ///< x (N, C, H, W)
  std::int64_t outputs, out_h, out_w;            ///< y (N, K, OH, OW)
  std::int64_t kernel_h, kernel_w;
  Conv2dOptions options;

  std::int64_t groups() const noexcept { return options.groups; }
  std::int64_t group_channels() const noexcept { return channels / options.groups; }
  std::int64_t group_outputs() const noexcept { return outputs / options.groups; }
  std::int64_t taps() const noexcept { return kernel_h * kernel_w; }
  std::int64_t pixels() const noexcept { return out_h * out_w; }
  /// Rows of the im2col matrix of one group.
  std::int64_t depth() const noexcept { return group_channels() * taps(); }
  Shape input_shape() const { return {images, channels, height, width}; }
  Shape weight_shape() const { return {outputs, group_channels(), kernel_h, kernel_w}; }
  Shape output_shape() const { return {images, outputs, out_h, out_w}; }

  /// The arguments of kernels that include conv/conv.h.
  Shape kernel_sizes() const { return {images, channels, height, width, outputs, out_h, out_w, options.groups}; }
  Shape kernel_window() const;
};

/// Checks shapes and options against each other and works out the output's size; refuses, naming op.
Conv2dSizes conv2d_sizes(const char* op, const Shape& input, const Shape& weight, const Conv2dOptions& options);

/// Contiguous tensors of these sizes, undefined where only the choice of a variant is asked for; what the op computes
/// is the one that is written.
struct Conv2dProblem {
  const Conv2dSizes& sizes;
  runtime::DeviceState& device;
  Tensor x{}, weight{}, y{};           ///< x is dx and y is dy where gradients are computed or given.
  Tensor bias{};                       ///< Forward only; may be undefined.
  const Epilogue* epilogue = nullptr;  ///< Forward only.
  bool* applied = nullptr;             ///< Made false by a variant that leaves the epilogue to the caller.
  /// What the operands may be rounded to, and what multiplies them then.
  Precision precision = Precision::fp32;
  MatrixUnit unit{};

  ProblemKey key() const;
};

/// The same problem in the thread's precision(), with what the device has for it.
Conv2dProblem with_precision(const char* op, Conv2dProblem problem);

/// Why the gathering CPU kernels cannot read images of this size, or nullptr.
const char* refuse_gather(const DeviceInfo& info, std::int64_t image_elements, std::int64_t rows, std::int64_t pixels);

/// In the order in which they are tried.
std::span<const Variant<Conv2dProblem>> conv2d_variants();
std::span<const Variant<Conv2dProblem>> conv2d_backward_data_variants();
std::span<const Variant<Conv2dProblem>> conv2d_backward_weight_variants();

std::uint64_t im2col_workspace(const Conv2dProblem& problem, const DeviceInfo& info);
const char* refuse_conv2d_im2col(const Conv2dProblem& problem, const DeviceInfo& info);
void run_conv2d_im2col(const Conv2dProblem& problem);
void run_conv2d_data_im2col(const Conv2dProblem& problem);
void run_conv2d_weight_im2col(const Conv2dProblem& problem);

}  // namespace crisol::ops
