// The problem of the three convolution ops, which their variants get.
#pragma once

#include "conv/parameters.h"
#include "crisol/ops/conv.h"
#include "crisol/precision.h"
#include "dispatch/choose.h"
#include "ops/product/epilogue_layout.h"
#include "ops/product/gemm.h"

namespace crisol::ops {

using namespace dispatch;

/// Sizes and window of a convolution, as whole numbers.
struct Conv2dSizes {
  std::int64_t images, channels, height, width;  ///< x (N, C, H, W)
  std::int64_t outputs, out_h, out_w;            ///< y (N, K, OH, OW)
  std::int64_t kernel_h, kernel_w;
  std::int64_t stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
  std::int64_t groups;

  std::int64_t group_channels() const noexcept { return channels / groups; }
  std::int64_t group_outputs() const noexcept { return outputs / groups; }
  std::int64_t taps() const noexcept { return kernel_h * kernel_w; }
  std::int64_t pixels() const noexcept { return out_h * out_w; }
  std::int64_t plane() const noexcept { return height * width; }
  /// The number of elements of an image of x; output_image() is the same for y.
  std::int64_t input_image() const noexcept { return channels * plane(); }
  std::int64_t output_image() const noexcept { return outputs * pixels(); }
  /// The number of rows of the im2col matrix of one group.
  std::int64_t depth() const noexcept { return group_channels() * taps(); }
  std::int64_t weight_size() const noexcept { return outputs * depth(); }
  Shape output_shape() const { return {images, outputs, out_h, out_w}; }

  /// The arguments of kernels.
  kernels::ConvSizes kernel_sizes() const noexcept;
  kernels::ConvWindow kernel_window() const noexcept;
};

/// Checks the numbers of channels of an input (N, C, …) and a weight (K, C/groups, …). The error names op.
void require_channels(const char* op, const Shape& input, const Shape& weight, int groups);

/// Checks shapes and options against each other, and computes the output's size. The error names op.
Conv2dSizes conv2d_sizes(const char* op, const Shape& input, const Shape& weight, const Conv2dOptions& options);

/// The operands of all three ops in the order in which launch() gets them. The tensors are contiguous.
///
///     conv2d                  x    weight  y
///     conv2d_backward_data    dy   weight  dx
///     conv2d_backward_weight  dy   x       dw
///
/// conv2d has three more operands: the bias, and two operands of the epilogue. If a problem does not have one of these,
/// any buffer takes its place, and no kernel reads it.
constexpr Place conv2d_bias = operand(3), conv2d_e0 = operand(4), conv2d_e1 = operand(5);

struct Conv2dProblem;
/// Sets `weight_is_new` where a CPU's plan depends on whether the weight's owner keeps a copy. Reads no elements.
/// `data`: of conv2d_backward_data.
void look_for_copy(Conv2dProblem& problem, const Tensor& weight, bool data);
/// The contiguous weight as an operand of a problem. It has its owner, unless `weight_is_new`.
dispatch::OperandView weight_operand(const Conv2dProblem& problem, const Tensor& weight);

/// Queues a plan of conv2d with these operands. The bias may be undefined, and f may be nullptr. Returns whether y has
/// the epilogue: it does not if the variant runs no epilogue.
bool launch_conv2d(const dispatch::Prepared& prepared, const Tensor& x, const dispatch::OperandView& weight,
                   const Tensor& bias, const Tensor& y, const ProductEpilogue* f);

/// A gradient of conv2d.
struct Conv2dGradient {
  const Shape& shape;
  const char* name;  ///< The other operand: "the weight" or "the input".
  const Tensor& other;
  bool is_weight;  ///< The other operand is a weight, so its owner may keep copies of it.
};

/// Checks dy and queues the gradient. `into` is the place of the result, or nullptr (ops/result.h).
Tensor conv2d_gradient(const Table<Conv2dProblem>& table, const Conv2dSizes& sizes, const Tensor& dy,
                       const Conv2dGradient& gradient, const Tensor* into = nullptr);

/// A convolution, or one of its gradients.
struct Conv2dProblem {
  Conv2dSizes sizes;
  ProductContext product;               ///< The settings of matrix products inside a plan.
  std::array<std::int64_t, 3> offsets;  ///< Positions of the operands' first elements, modulo 4.
  std::int64_t has_bias;                ///< conv2d only.
  EpilogueLayout epilogue;              ///< Only conv2d has one. The batch of its operands is the group of channels.
  std::int64_t type;                    ///< The DType of all operands in memory. Sums are f32.
  std::int64_t weight_is_new = 0;       ///< Whether a copy of the weight in another layout serves this call alone.

  Precision precision() const noexcept { return static_cast<Precision>(product.precision); }
  /// Flags of the kernels that convolve: bias and epilogue.
  std::int32_t flags() const noexcept { return (has_bias != 0 ? bias_per_row : 0) | epilogue_flags(epilogue); }
  /// The epilogue's arguments for a kernel. The buffer `any` takes the place of operands that do not exist.
  EpilogueArgs epilogue_args(const Place& any) const { return ops::epilogue_args(epilogue, conv2d_e0, conv2d_e1, any); }
  /// The bias, or the buffer `any` in its place.
  Place bias_or(const Place& any) const noexcept { return has_bias != 0 ? conv2d_bias : any; }

  double multiply_adds() const noexcept {
    return static_cast<double>(sizes.images * sizes.output_image()) * static_cast<double>(sizes.depth());
  }
  static constexpr std::uint32_t written_operands = 1u << 2;  // Operand 2: y, dx or dw.
  ProblemKey key() const;
};

/// The plan of a variant whose kernels read f32 alone.
template <PlanOr (*plan)(const Conv2dProblem&, const Target&, std::size_t)>
PlanOr of_f32(const Conv2dProblem& p, const Target& target, std::size_t config) {
  if (p.type != 0) return "it reads f32 alone";
  return plan(p, target, config);
}

/// A matrix product inside the plan of a problem, in its precision.
GemmProblem inner_product(const Conv2dProblem& problem, std::int64_t m, std::int64_t n, std::int64_t k,
                          std::int64_t batch);

/// The problem of these sizes in the thread's precision().
Conv2dProblem conv2d_problem(const Conv2dSizes& sizes);
/// The problem of these operands.
Conv2dProblem conv2d_problem(const Conv2dSizes& sizes, const std::array<const Tensor*, 3>& operands);

extern const Table<Conv2dProblem> conv2d_table, conv2d_backward_data_table, conv2d_backward_weight_table;

}  // namespace crisol::ops
