#include <limits>

#include "base/ceil_div.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/norm.h"
#include "norm/parameters.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/rowwise/rows.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

/// x is (images, channels, spatial). A row of the RowProblem is a channel of an image.
struct BatchNormProblem : RowProblem {
  std::int64_t images, channels, spatial;
  std::int64_t affine;          ///< AffineFlags of the kernels.
  std::int64_t training;        ///< Whether the statistics come from the batch.
  std::int64_t running;         ///< For forward in training: whether running statistics are updated.
  std::int64_t in_quads;        ///< Whether rows consist of groups of four elements that begin at multiples of four.
  std::int64_t parameter_type;  ///< The DType of weight, bias and running statistics. Other statistics are f32.

  std::int64_t count() const noexcept { return images * spatial; }
  std::int32_t affine_flags() const noexcept { return static_cast<std::int32_t>(affine); }
  dispatch::ProblemKey key() const {
    const dispatch::ProblemKey key{{"images", images}, {"channels", channels}, {"spatial", spatial}};
    return key.with_types(types_with_parameters(type, parameter_type));
  }
};

/// Checked.
struct BatchNormInputs {
  Contiguous x, weight, bias;
  std::int64_t images, channels;
  DType parameter_type;
  std::int64_t spatial = 1;

  std::int64_t count() const noexcept { return images * spatial; }
  /// The tensor, or x if it is undefined. The kernel then does not read it.
  ContiguousArg or_x(const Contiguous& t) const { return in(t.defined() ? t : x); }
  BatchNormProblem problem(bool training, bool running, const Contiguous& dy = {}) const {
    const auto in_quads_from = [](const Contiguous& t) { return in(t.layout()).offset % 4 == 0; };
    const bool in_quads = spatial % 4 == 0 && in_quads_from(x) && (!dy.defined() || in_quads_from(dy));
    return {{images * channels, spatial, 1, storage_of(x.layout())},
            images,
            channels,
            spatial,
            (weight.defined() ? kernels::AFFINE_WEIGHT : 0) | (bias.defined() ? kernels::AFFINE_BIAS : 0),
            training ? 1 : 0,
            running ? 1 : 0,
            in_quads ? 1 : 0,
            static_cast<std::int64_t>(parameter_type)};
  }
};

BatchNormInputs inputs_of(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias,
                          const Tensor& running_mean = {}, const Tensor& running_var = {}) {
  require_storage(op, "the input", x);
  require(x.dim() >= 2, op, "the input must be (N, C) or (N, C, …), its shape is ", x.shape());
  const std::int64_t channels = x.shape()[1];
  const DType type = require_parameters(op, x, {channels},
                                        {{"the weight", weight},
                                         {"the bias", bias},
                                         {"the running mean", running_mean},
                                         {"the running variance", running_var}});
  BatchNormInputs inputs{Contiguous(x), Contiguous(weight), Contiguous(bias), x.shape()[0], channels, type};
  for (int i = 2; i < x.dim(); ++i) inputs.spatial *= x.shape()[i];
  return inputs;
}

/// How the kernels of `source` cut rows and channels. A channel has `parts` parts, which are reduced separately.
struct Cut {
  const char* source;
  std::int64_t piece, parts;
  runtime::NdRange of_rows, of_channels;

  kernels::BatchNormParameters sizes(const BatchNormProblem& p) const {
    return {.rows = p.rows, .channels = p.channels, .spatial = p.spatial, .piece = piece, .parts = parts};
  }
  /// The bytes for two sums of each part of each channel.
  std::uint64_t partial_bytes(std::int64_t channels) const { return 8 * static_cast<std::uint64_t>(parts * channels); }
};

runtime::KernelSpec spec_of(const BatchNormProblem& p, const Target& target, const RowGeometry& g, const Cut& cut,
                            const char* entry) {
  runtime::Defines defines = row_defines(target, g, p.type);
  define_type(defines, "PARAMETER", p.parameter_type);
  if (g.lanes == 1 && p.rows * p.spatial > std::numeric_limits<std::int32_t>::max() / 2) defines.add({"INDEX", "long"});
  if (g.group > 1 && p.in_quads != 0) defines.add({"QUADS", 1});
  return {cut.source, entry, defines};
}

/// How a method cuts the work.
using CutOf = Cut (*)(const BatchNormProblem&, const Target&, const RowGeometry&);

constexpr const char* rows_source = "norm/batch_norm.cl";

Cut cut_rows(const BatchNormProblem& p, const Target& target, const RowGeometry& g) {
  if (g.lanes == 1) {
    const std::int64_t piece = 64 * g.group;
    const std::int64_t pieces = ceil_div(p.spatial, piece), parts = ceil_div(p.count(), piece);
    return {rows_source, piece, parts, g.range(p.rows, pieces), g.range(p.channels, parts)};
  }
  // If there are few rows, they are cut into pieces of 64 vectors or more, so that all work-items have work.
  const std::int64_t min_piece = std::int64_t{64} * g.lanes, wanted = 8 * target.info.compute_units;
  const std::int64_t max_pieces = std::max<std::int64_t>(1, p.spatial / min_piece);
  const std::int64_t each = std::min(max_pieces, (wanted + p.rows - 1) / std::max<std::int64_t>(1, p.rows));
  const std::int64_t piece = g.chunks_of(ceil_div(p.spatial, each)) * g.lanes;
  const std::int64_t pieces = ceil_div(p.spatial, piece);
  const runtime::NdRange range = g.each_row(target, p.rows * pieces, piece);
  return {rows_source, piece, p.images * pieces, range, range};
}

/// A unit of work is a strip of channels in at most 64 images, so a plain sum is exact enough.
Cut cut_columns(const BatchNormProblem& p, const Target& target, const RowGeometry& g) {
  constexpr std::int64_t piece = 64, strip_vectors = 8;
  const std::int64_t parts = ceil_div(p.images, piece), strip = strip_vectors * g.lanes;
  const runtime::NdRange range = g.each_row(target, parts * ceil_div(p.channels, strip), piece * strip);
  return {"norm/batch_norm_columns.cl", piece, parts, range, range};
}

template <CutOf cut_of>
Plan plan_forward(const BatchNormProblem& p, const Target& target, const RowGeometry& g) {
  const auto [x, weight, bias, y, mean, invstd, running_mean, running_var] = operands<8>();
  constexpr CallScalar epsilon{0}, momentum{1};
  const Cut cut = cut_of(p, target, g);
  const kernels::BatchNormParameters sizes = cut.sizes(p);
  Plan plan;
  if (p.training != 0) {
    const Place partial = plan.workspace(cut.partial_bytes(p.channels));
    plan.add(spec_of(p, target, g, cut, "batch_norm_moments"), cut.of_channels, x, partial, sizes);
    plan.add(spec_of(p, target, g, cut, "batch_norm_statistics"), target.flat_range(p.channels), x, partial, mean,
             invstd, running_mean, running_var, sizes, epsilon, momentum, static_cast<std::int32_t>(p.running));
  } else {
    plan.add(spec_of(p, target, g, cut, "batch_norm_from_running"), target.flat_range(p.channels), running_mean,
             running_var, mean, invstd, p.channels, epsilon);
  }
  plan.add(spec_of(p, target, g, cut, "batch_norm_apply"), cut.of_rows, x, mean, invstd, weight, bias, y, sizes,
           p.affine_flags());
  return plan;
}

template <CutOf cut_of>
Plan plan_backward(const BatchNormProblem& p, const Target& target, const RowGeometry& g) {
  const auto [dy, x, weight, mean, invstd, dx, dweight, dbias] = operands<8>();
  const Cut cut = cut_of(p, target, g);
  const kernels::BatchNormParameters sizes = cut.sizes(p);
  Plan plan;
  const Place partial = plan.workspace(cut.partial_bytes(p.channels));
  plan.add(spec_of(p, target, g, cut, "batch_norm_backward_sums"), cut.of_channels, dy, x, mean, partial, sizes);
  plan.add(spec_of(p, target, g, cut, "batch_norm_backward_total"), target.flat_range(p.channels), partial, invstd,
           dweight, dbias, p.channels, cut.parts);
  plan.add(spec_of(p, target, g, cut, "batch_norm_backward_apply"), cut.of_rows, dy, x, mean, invstd, weight, dweight,
           dbias, dx, sizes, p.affine_flags(), p.training != 0 ? 1.0f / static_cast<float>(p.count()) : 0.0f);
  return plan;
}

/// The variant for x (N, C), whose channels are columns. Other variants read such columns number by number.
template <Plan (*plan)(const BatchNormProblem&, const Target&, const RowGeometry&)>
PlanOr plan_columns(const BatchNormProblem& p, const Target& target, std::size_t) {
  const RowGeometry g = vector_rows(target);
  if (p.spatial != 1) return "an image has several values of a channel";
  if (p.channels < g.lanes) return "there are fewer channels than a vector has lanes";
  return plan(p, target, g);
}

template <Plan (*by_columns)(const BatchNormProblem&, const Target&, const RowGeometry&),
          Plan (*by_rows)(const BatchNormProblem&, const Target&, const RowGeometry&)>
constexpr Variant<BatchNormProblem> variants[] = {{"columns", DeviceClass::cpu, plan_columns<by_columns>},
                                                  row_variants<BatchNormProblem, by_rows>[0],
                                                  row_variants<BatchNormProblem, by_rows>[1],
                                                  row_variants<BatchNormProblem, by_rows>[2]};

const Table<BatchNormProblem> forward_table("batch_norm2d",
                                            variants<plan_forward<cut_columns>, plan_forward<cut_rows>>);
const Table<BatchNormProblem> backward_table("batch_norm2d_backward",
                                             variants<plan_backward<cut_columns>, plan_backward<cut_rows>>);

void check_running(const char* op, const Tensor& mean, const Tensor& var, bool training) {
  require(mean.defined() == var.defined(), op, "running mean and variance must both be given, or neither");
  require(mean.defined() || training, op, "inference needs running statistics");
  require(!mean.defined() || (mean.is_contiguous() && var.is_contiguous()), op,
          "the running statistics must be contiguous");
}

BatchNormResult normalize_channels(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                   const Tensor& running_mean, const Tensor& running_var,
                                   const BatchNormOptions& options, const NormInto& into = {}) {
  const char* const op = forward_table.op;
  const BatchNormInputs inputs = inputs_of(op, x, weight, bias, running_mean, running_var);
  check_running(op, running_mean, running_var, options.training);
  require(!options.training || inputs.count() != 1, op, "training needs more than one value per channel, shape ",
          x.shape(), " has one");
  const Shape per_channel{inputs.channels};
  into.require_apart(op);
  const std::array read{&x, &weight, &bias, &running_mean, &running_var};
  Result y(op, into.y, x.shape(), x.dtype(), x.device(), read),
      mean(op, into.mean, per_channel, DType::f32, x.device(), read),
      invstd(op, into.scale, per_channel, DType::f32, x.device(), read);
  const auto done = [&] { return BatchNormResult{y.done(), mean.done(), invstd.done()}; };
  if (options.training && inputs.count() == 0) {
    fill_into(mean.place(), 0);
    fill_into(invstd.place(), 0);
    return done();
  }
  const bool running = running_mean.defined();
  const PreparedPtr prepared = prepare(forward_table, inputs.problem(options.training, running), state_of(x));
  const auto statistic = [&](const Tensor& t, const Tensor& unused) {
    if (!running) return in(unused);
    return options.training ? out(t) : in(t);
  };
  launch(*prepared,
         {in(inputs.x), inputs.or_x(inputs.weight), inputs.or_x(inputs.bias), out(y), out(mean), out(invstd),
          statistic(running_mean, mean.place()), statistic(running_var, invstd.place())},
         {static_cast<float>(options.epsilon), static_cast<float>(options.momentum)});
  return done();
}

}  // namespace

BatchNormResult batch_norm2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                             const Tensor& running_var, const BatchNormOptions& options) {
  return normalize_channels(x, weight, bias, running_mean, running_var, options);
}
void batch_norm2d_into(const Tensor& y, const Tensor& mean, const Tensor& invstd, const Tensor& x, const Tensor& weight,
                       const Tensor& bias, const Tensor& running_mean, const Tensor& running_var,
                       const BatchNormOptions& options) {
  normalize_channels(x, weight, bias, running_mean, running_var, options, {&y, &mean, &invstd});
}

NormGradients batch_norm2d_backward(const Tensor& dy, const Tensor& x, const Tensor& weight, const Tensor& mean,
                                    const Tensor& invstd, bool training) {
  const char* const op = backward_table.op;
  const BatchNormInputs inputs = inputs_of(op, x, weight, {});
  require_operand(op, "the input", x, "the result's gradient", dy, x.shape(), x.dtype());
  require_operand(op, "the input", x, "the mean", mean, {inputs.channels});
  require_operand(op, "the input", x, "invstd", invstd, {inputs.channels});
  const Contiguous gradient(dy), means(mean), invstds(invstd);
  const Shape per_channel{inputs.channels};
  const NormGradients to{empty(x.shape(), x.dtype(), x.device()), empty(per_channel, DType::f32, x.device()),
                         empty(per_channel, DType::f32, x.device())};
  const PreparedPtr prepared = prepare(backward_table, inputs.problem(training, false, gradient), state_of(x));
  launch(*prepared, {in(gradient), in(inputs.x), inputs.or_x(inputs.weight), in(means), in(invstds), out(to.x),
                     out(to.weight), out(to.bias)});
  return to;
}

}  // namespace crisol::ops
