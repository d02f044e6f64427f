#include <limits>

#include "crisol/ops/copy.h"
#include "crisol/ops/norm.h"
#include "ops/check.h"
#include "ops/rowwise/rows.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

/// x as (images, channels, spatial); a row of the RowProblem is a channel of an image.
struct BatchNormProblem : RowProblem {
  std::int64_t images, channels, spatial;
  Tensor x, weight, bias;
  Tensor mean, invstd;
  Tensor dy;  ///< Backward.

  std::int64_t count() const noexcept { return images * spatial; }
  /// Rows are made of vectors of four floats that begin at multiples of 16 bytes.
  bool in_quads() const {
    return spatial % 4 == 0 && in(x).offset % 4 == 0 && (!dy.defined() || in(dy).offset % 4 == 0);
  }
  int affine() const { return (weight.defined() ? 1 : 0) + (bias.defined() ? 2 : 0); }
  ProblemKey key() const { return {{"images", images}, {"channels", channels}, {"spatial", spatial}}; }
  /// Stands where a kernel does not look.
  const Tensor& or_x(const Tensor& t) const { return t.defined() ? t : x; }
};

struct ForwardProblem : BatchNormProblem {
  Tensor y, running_mean, running_var;
  BatchNormOptions options;
};

struct BackwardProblem : BatchNormProblem {
  NormGradients gradients;
  bool training;
};

BatchNormProblem problem_of(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  require_dtype(op, "the input", x, DType::f32);
  require(x.dim() >= 2, op, "the input must be (N, C) or (N, C, …), its shape is ", x.shape());
  const std::int64_t images = x.shape()[0], channels = x.shape()[1];
  std::int64_t spatial = 1;
  for (int i = 2; i < x.dim(); ++i) spatial *= x.shape()[i];
  if (weight.defined()) require_operand(op, "the input", x, "the weight", weight, {channels});
  if (bias.defined()) require_operand(op, "the input", x, "the bias", bias, {channels});
  BatchNormProblem p{
      {state_of(x), images * channels, spatial, 1}, images, channels, spatial, contiguous(x), {}, {}, {}, {}, {}};
  if (weight.defined()) p.weight = contiguous(weight);
  if (bias.defined()) p.bias = contiguous(bias);
  return p;
}

runtime::Kernel& kernel_of(const BatchNormProblem& p, const RowGeometry& g, const char* entry) {
  runtime::Defines defines = row_defines(p.device, g);
  if (g.lanes == 1 && p.rows * p.spatial > std::numeric_limits<std::int32_t>::max() / 2) defines.add({"INDEX", "long"});
  if (g.group > 1 && p.in_quads()) defines.add({"QUADS", 1});
  return runtime::resolve(p.device, {"rowwise/batch_norm.cl", entry, defines});
}

/// How the kernels cut rows, and channels, of which `parts` are reduced apart.
struct Cut {
  std::int64_t piece, pieces, parts;
  runtime::NdRange of_rows, of_channels;
};

Cut cut_of(const BatchNormProblem& p, const RowGeometry& g) {
  if (g.lanes == 1) {
    const std::int64_t piece = 64 * g.group;
    const std::int64_t pieces = (p.spatial + piece - 1) / piece, parts = (p.count() + piece - 1) / piece;
    return {piece, pieces, parts, g.range(p.rows, pieces), g.range(p.channels, parts)};
  }
  // Where rows are few, pieces of 64 vectors or more that keep all work-items busy.
  const std::int64_t least = std::int64_t{64} * g.lanes, wanted = 8 * runtime::info_of(p.device).compute_units;
  const std::int64_t most_pieces = std::max<std::int64_t>(1, p.spatial / least);
  const std::int64_t each = std::min(most_pieces, (wanted + p.rows - 1) / std::max<std::int64_t>(1, p.rows));
  const std::int64_t piece = g.chunks_of((p.spatial + each - 1) / each) * g.lanes;
  const std::int64_t pieces = (p.spatial + piece - 1) / piece;
  const runtime::NdRange range = g.each_row(p.device, p.rows * pieces, piece);
  return {piece, pieces, p.images * pieces, range, range};
}

// The elements, with mean and invstd known.
void launch_apply(const ForwardProblem& p, const Cut& cut, runtime::Kernel& kernel) {
  runtime::launch(p.device, kernel, cut.of_rows, in(p.x), in(p.mean), in(p.invstd), in(p.or_x(p.weight)),
                  in(p.or_x(p.bias)), out(p.y), p.rows, p.channels, p.spatial, cut.piece, p.affine());
}

void run_training(const ForwardProblem& p, const RowGeometry& g) {
  runtime::Kernel& moments = kernel_of(p, g, "batch_norm_moments");
  runtime::Kernel& statistics = kernel_of(p, g, "batch_norm_statistics");
  runtime::Kernel& apply = kernel_of(p, g, "batch_norm_apply");
  const Cut cut = cut_of(p, g);
  const Tensor partial = empty({cut.parts, p.channels, 2}, DType::f32, p.x.device());
  const bool running = p.running_mean.defined();
  runtime::launch(p.device, moments, cut.of_channels, in(p.x), out(partial), p.rows, p.channels, p.spatial, cut.piece);
  runtime::launch(p.device, statistics, runtime::flat_range(p.device, p.channels), in(p.x), in(partial), out(p.mean),
                  out(p.invstd), running ? out(p.running_mean) : in(p.mean),
                  running ? out(p.running_var) : in(p.invstd), p.images, p.channels, p.spatial, cut.piece, cut.parts,
                  static_cast<float>(p.options.epsilon), static_cast<float>(p.options.momentum), running ? 1 : 0);
  launch_apply(p, cut, apply);
}

void run_inference(const ForwardProblem& p, const RowGeometry& g) {
  runtime::Kernel& constants = kernel_of(p, g, "batch_norm_from_running");
  runtime::Kernel& apply = kernel_of(p, g, "batch_norm_apply");
  runtime::launch(p.device, constants, runtime::flat_range(p.device, p.channels), in(p.running_mean), in(p.running_var),
                  out(p.mean), out(p.invstd), p.channels, static_cast<float>(p.options.epsilon));
  launch_apply(p, cut_of(p, g), apply);
}

void run_forward(const ForwardProblem& p, const RowGeometry& g) {
  p.options.training ? run_training(p, g) : run_inference(p, g);
}

void run_backward(const BackwardProblem& p, const RowGeometry& g) {
  runtime::Kernel& sums = kernel_of(p, g, "batch_norm_backward_sums");
  runtime::Kernel& total = kernel_of(p, g, "batch_norm_backward_total");
  runtime::Kernel& apply = kernel_of(p, g, "batch_norm_backward_apply");
  const Cut cut = cut_of(p, g);
  const Tensor partial = empty({cut.parts, p.channels, 2}, DType::f32, p.x.device());
  const NormGradients& to = p.gradients;
  runtime::launch(p.device, sums, cut.of_channels, in(p.dy), in(p.x), in(p.mean), out(partial), p.rows, p.channels,
                  p.spatial, cut.piece);
  runtime::launch(p.device, total, runtime::flat_range(p.device, p.channels), in(partial), in(p.invstd), out(to.weight),
                  out(to.bias), p.channels, cut.parts);
  runtime::launch(p.device, apply, cut.of_rows, in(p.dy), in(p.x), in(p.mean), in(p.invstd), in(p.or_x(p.weight)),
                  in(to.weight), in(to.bias), out(to.x), p.rows, p.channels, p.spatial, cut.piece, p.affine(),
                  p.training ? 1.0f / static_cast<float>(p.count()) : 0.0f);
}

void check_running(const char* op, const ForwardProblem& p, const Tensor& mean, const Tensor& var) {
  require(mean.defined() == var.defined(), op, "running mean and variance must both be given, or neither");
  require(mean.defined() || p.options.training, op, "inference needs running statistics");
  if (!mean.defined()) return;
  require_operand(op, "the input", p.x, "the running mean", mean, {p.channels});
  require_operand(op, "the input", p.x, "the running variance", var, {p.channels});
  require(mean.is_contiguous() && var.is_contiguous(), op, "the running statistics must be contiguous");
}

}  // namespace

BatchNormResult batch_norm2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                             const Tensor& running_var, const BatchNormOptions& options) {
  constexpr const char* op = "batch_norm2d";
  ForwardProblem p{problem_of(op, x, weight, bias), {}, running_mean, running_var, options};
  check_running(op, p, running_mean, running_var);
  require(options.momentum >= 0 && options.momentum <= 1, op, "momentum must be in [0, 1], it is ", options.momentum);
  require(options.epsilon >= 0, op, "epsilon must not be negative, it is ", options.epsilon);
  require(!options.training || p.count() != 1, op, "training needs more than one value per channel, shape ", x.shape(),
          " has one");
  const bool nothing = options.training && p.count() == 0;
  p.y = empty(x.shape(), DType::f32, x.device());
  p.mean = nothing ? zeros({p.channels}, DType::f32, x.device()) : empty({p.channels}, DType::f32, x.device());
  p.invstd = nothing ? zeros({p.channels}, DType::f32, x.device()) : empty({p.channels}, DType::f32, x.device());
  if (!nothing) choose(op, row_variants<ForwardProblem, run_forward>, p, x.device().info()).run(p);
  return {p.y, p.mean, p.invstd};
}

NormGradients batch_norm2d_backward(const Tensor& dy, const Tensor& x, const Tensor& weight, const Tensor& mean,
                                    const Tensor& invstd, bool training) {
  constexpr const char* op = "batch_norm2d_backward";
  BackwardProblem p{problem_of(op, x, weight, {}), {}, training};
  require_operand(op, "the input", x, "the result's gradient", dy, x.shape());
  require_operand(op, "the input", x, "the mean", mean, {p.channels});
  require_operand(op, "the input", x, "invstd", invstd, {p.channels});
  p.dy = contiguous(dy);
  p.mean = contiguous(mean);
  p.invstd = contiguous(invstd);
  p.gradients = {empty(x.shape(), DType::f32, x.device()), empty({p.channels}, DType::f32, x.device()),
                 empty({p.channels}, DType::f32, x.device())};
  choose(op, row_variants<BackwardProblem, run_backward>, p, x.device().info()).run(p);
  return p.gradients;
}

}  // namespace crisol::ops
