#include <algorithm>

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

// The rows of one part. With so few rows, plain sums for the parameters' gradients are exact enough.
constexpr std::int64_t max_part_rows = 64;

struct LayerNormProblem : RowProblem {
  std::int64_t affine;          ///< AffineFlags of the kernels.
  std::int64_t parameters;      ///< For backward: whether the gradients of weight and bias are needed.
  std::int64_t parameter_type;  ///< The DType of weight and bias. Statistics and the gradients of both are f32.

  ProblemKey key() const {
    const ProblemKey key{{"rows", rows}, {"length", length}, {"step", step}};
    return key.with_types(types_with_parameters(type, parameter_type));
  }
};

/// Checked.
struct LayerNormInputs {
  Contiguous x, weight, bias;
  Shape row_shape;  ///< x's shape without the normalised axes.
  DType parameter_type;

  /// The tensor, or x if it is undefined. The kernel then does not read it.
  ContiguousArg or_x(const Contiguous& t) const { return in(t.defined() ? t : x); }
};

LayerNormInputs inputs_of(const char* op, const Tensor& x, const Shape& normalized, const Tensor& weight,
                          const Tensor& bias) {
  require_storage(op, "the input", x);
  const int outer = x.dim() - normalized.rank();
  bool fits = normalized.rank() > 0 && outer >= 0;
  for (int i = 0; fits && i < normalized.rank(); ++i) fits = x.shape()[outer + i] == normalized[i];
  require(fits, op, "the last sizes of the input, whose shape is ", x.shape(), ", must be normalized_shape ",
          normalized);
  const DType type = require_parameters(op, x, normalized, {{"the weight", weight}, {"the bias", bias}});
  Shape row_shape;
  for (int i = 0; i < outer; ++i) row_shape.push_back(x.shape()[i]);
  return {Contiguous(x), Contiguous(weight), Contiguous(bias), row_shape, type};
}

LayerNormProblem problem_of(const LayerNormInputs& inputs, const Shape& normalized, bool parameters) {
  return {{inputs.row_shape.numel(), normalized.numel(), 1, storage_of(inputs.x.layout())},
          (inputs.weight.defined() ? kernels::AFFINE_WEIGHT : 0) | (inputs.bias.defined() ? kernels::AFFINE_BIAS : 0),
          parameters ? 1 : 0,
          static_cast<std::int64_t>(inputs.parameter_type)};
}

runtime::KernelSpec spec_of(const LayerNormProblem& p, const Target& target, const RowGeometry& g, const char* entry) {
  runtime::KernelSpec spec{"norm/layer_norm.cl", entry, row_defines(target, g, p.type)};
  define_type(spec.defines, "PARAMETER", p.parameter_type);
  return spec;
}

Plan plan_forward(const LayerNormProblem& p, const Target& target, const RowGeometry& g) {
  const auto [x, weight, bias, y, mean, rstd] = operands<6>();
  constexpr CallScalar epsilon{0};
  Plan plan;
  plan.add(spec_of(p, target, g, "layer_norm_forward"), g.each_row(target, p.rows, p.length), x, weight, bias, y, mean,
           rstd, p.rows, p.length, epsilon, static_cast<std::int32_t>(p.affine));
  return plan;
}

Plan plan_backward(const LayerNormProblem& p, const Target& target, const RowGeometry& g) {
  const auto [dy, x, weight, mean, rstd, dx, dweight, dbias] = operands<8>();
  const bool with_rows = g.lanes > 1 && !g.in_lanes;
  const std::int64_t part_rows = with_rows ? std::min(max_part_rows, g.rows_of_item(target, p.length)) : max_part_rows;
  const std::int64_t parts = ceil_div(p.rows, part_rows);
  const runtime::NdRange range =
      with_rows ? g.each_row(target, parts, part_rows * p.length) : g.each_row(target, p.rows, p.length);
  Plan plan;
  const Place partial = plan.workspace(p.parameters != 0 ? 4 * static_cast<std::uint64_t>(parts * 2 * p.length) : 0);
  plan.add(spec_of(p, target, g, "layer_norm_backward"), range, dy, x, weight, mean, rstd, dx, partial, p.rows,
           p.length, part_rows, static_cast<std::int32_t>(p.affine), static_cast<std::int32_t>(p.parameters));
  if (p.parameters == 0) return plan;
  if (!with_rows)
    plan.add(spec_of(p, target, g, "layer_norm_columns"), g.items(p.length, parts), dy, x, mean, rstd, partial, p.rows,
             p.length, part_rows);
  plan.add(spec_of(p, target, g, "layer_norm_columns_total"), target.flat_range(p.length), partial, dweight, dbias,
           parts, p.length);
  return plan;
}

const Table<LayerNormProblem> layer_norm_forward_table("layer_norm", lane_row_variants<LayerNormProblem, plan_forward>);
const Table<LayerNormProblem> layer_norm_backward_table("layer_norm_backward",
                                                        lane_row_variants<LayerNormProblem, plan_backward>);

LayerNormResult normalize_rows(const Tensor& x, const Shape& normalized_shape, const Tensor& weight, const Tensor& bias,
                               double epsilon, const NormInto& into = {}) {
  const char* const op = layer_norm_forward_table.op;
  const LayerNormInputs inputs = inputs_of(op, x, normalized_shape, weight, bias);
  into.require_apart(op);
  Result y(op, into.y, x.shape(), x.dtype(), x.device(), {&x, &weight, &bias}),
      mean(op, into.mean, inputs.row_shape, DType::f32, x.device(), {&x, &weight, &bias}),
      rstd(op, into.scale, inputs.row_shape, DType::f32, x.device(), {&x, &weight, &bias});
  const PreparedPtr prepared =
      prepare(layer_norm_forward_table, problem_of(inputs, normalized_shape, false), state_of(x));
  launch(*prepared, {in(inputs.x), inputs.or_x(inputs.weight), inputs.or_x(inputs.bias), out(y), out(mean), out(rstd)},
         {static_cast<float>(epsilon)});
  return {y.done(), mean.done(), rstd.done()};
}

}  // namespace

LayerNormResult layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight, const Tensor& bias,
                           double epsilon) {
  return normalize_rows(x, normalized_shape, weight, bias, epsilon);
}
void layer_norm_into(const Tensor& y, const Tensor& mean, const Tensor& rstd, const Tensor& x,
                     const Shape& normalized_shape, const Tensor& weight, const Tensor& bias, double epsilon) {
  normalize_rows(x, normalized_shape, weight, bias, epsilon, {&y, &mean, &rstd});
}

NormGradients layer_norm_backward(const Tensor& dy, const Tensor& x, const Shape& normalized_shape,
                                  const Tensor& weight, const Tensor& mean, const Tensor& rstd, bool parameters) {
  const char* const op = layer_norm_backward_table.op;
  const LayerNormInputs inputs = inputs_of(op, x, normalized_shape, weight, {});
  require_operand(op, "the input", x, "the result's gradient", dy, x.shape(), x.dtype());
  require_operand(op, "the input", x, "the mean", mean, inputs.row_shape);
  require_operand(op, "the input", x, "rstd", rstd, inputs.row_shape);
  const Contiguous gradient(dy), means(mean), rstds(rstd);
  NormGradients to{empty(x.shape(), x.dtype(), x.device()), {}, {}};
  if (parameters) {
    to.weight = empty(normalized_shape, DType::f32, x.device());
    to.bias = empty(normalized_shape, DType::f32, x.device());
  }
  const auto or_dx = [&](const Tensor& t) { return t.defined() ? out(t) : in(to.x); };
  const PreparedPtr prepared =
      prepare(layer_norm_backward_table, problem_of(inputs, normalized_shape, parameters), state_of(x));
  launch(*prepared, {in(gradient), in(inputs.x), inputs.or_x(inputs.weight), in(means), in(rstds), out(to.x),
                     or_dx(to.weight), or_dx(to.bias)});
  return to;
}

}  // namespace crisol::ops
