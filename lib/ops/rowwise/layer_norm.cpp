#include <algorithm>

#include "crisol/ops/copy.h"
#include "crisol/ops/norm.h"
#include "ops/check.h"
#include "ops/rowwise/rows.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

// Rows whose gradients of the parameters are added up without regard to rounding.
constexpr std::int64_t most_part_rows = 64;

struct LayerNormProblem : RowProblem {
  Shape row_shape;  ///< x's, without the normalised axes.
  Tensor x, weight, bias;
  Tensor mean, rstd;

  int affine() const { return (weight.defined() ? 1 : 0) + (bias.defined() ? 2 : 0); }
  /// Stands where a kernel does not look.
  const Tensor& or_x(const Tensor& t) const { return t.defined() ? t : x; }
};

struct ForwardProblem : LayerNormProblem {
  Tensor y;
  float epsilon;
};

struct BackwardProblem : LayerNormProblem {
  Tensor dy;
  NormGradients gradients;
};

LayerNormProblem problem_of(const char* op, const Tensor& x, const Shape& normalized, const Tensor& weight,
                            const Tensor& bias) {
  require_dtype(op, "the input", x, DType::f32);
  const int outer = x.dim() - normalized.rank();
  bool fits = normalized.rank() > 0 && outer >= 0;
  for (int i = 0; fits && i < normalized.rank(); ++i) fits = x.shape()[outer + i] == normalized[i];
  require(fits, op, "the last sizes of the input, whose shape is ", x.shape(), ", must be normalized_shape ",
          normalized);
  if (weight.defined()) require_operand(op, "the input", x, "the weight", weight, normalized);
  if (bias.defined()) require_operand(op, "the input", x, "the bias", bias, normalized);
  Shape row_shape;
  for (int i = 0; i < outer; ++i) row_shape.push_back(x.shape()[i]);
  LayerNormProblem p{{state_of(x), row_shape.numel(), normalized.numel(), 1}, row_shape, contiguous(x), {}, {}, {}, {}};
  if (weight.defined()) p.weight = contiguous(weight);
  if (bias.defined()) p.bias = contiguous(bias);
  return p;
}

runtime::Kernel& kernel_of(const LayerNormProblem& p, const RowGeometry& g, const char* entry) {
  return runtime::resolve(p.device, {"rowwise/layer_norm.cl", entry, row_defines(p.device, g)});
}

void run_forward(const ForwardProblem& p, const RowGeometry& g) {
  runtime::launch(p.device, kernel_of(p, g, "layer_norm_forward"), g.each_row(p.device, p.rows, p.length), in(p.x),
                  in(p.or_x(p.weight)), in(p.or_x(p.bias)), out(p.y), out(p.mean), out(p.rstd), p.rows, p.length,
                  p.epsilon, p.affine());
}

void run_backward(const BackwardProblem& p, const RowGeometry& g) {
  const NormGradients& to = p.gradients;
  const bool parameters = to.weight.defined(), with_rows = g.lanes > 1;
  runtime::Kernel& rows = kernel_of(p, g, "layer_norm_backward");
  runtime::Kernel& columns = with_rows ? rows : kernel_of(p, g, "layer_norm_columns");
  runtime::Kernel& total = kernel_of(p, g, "layer_norm_columns_total");
  const std::int64_t part_rows =
      with_rows ? std::min(most_part_rows, g.rows_of_item(p.device, p.length)) : most_part_rows;
  const std::int64_t parts = (p.rows + part_rows - 1) / part_rows;
  const Tensor partial = empty({parameters ? parts : 0, 2, p.length}, DType::f32, p.x.device());
  const runtime::NdRange range = with_rows ? g.each_row(p.device, parts, part_rows * p.length) : g.range(p.rows);
  runtime::launch(p.device, rows, range, in(p.dy), in(p.x), in(p.or_x(p.weight)), in(p.mean), in(p.rstd), out(to.x),
                  out(partial), p.rows, p.length, part_rows, p.affine(), parameters ? 1 : 0);
  if (!parameters) return;
  if (!with_rows)
    runtime::launch(p.device, columns, g.items(p.length, parts), in(p.dy), in(p.x), in(p.mean), in(p.rstd),
                    out(partial), p.rows, p.length, part_rows);
  runtime::launch(p.device, total, runtime::flat_range(p.device, p.length), in(partial), out(to.weight), out(to.bias),
                  parts, p.length);
}

}  // namespace

LayerNormResult layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight, const Tensor& bias,
                           double epsilon) {
  constexpr const char* op = "layer_norm";
  ForwardProblem p{problem_of(op, x, normalized_shape, weight, bias), {}, static_cast<float>(epsilon)};
  require(epsilon >= 0, op, "epsilon must not be negative, it is ", epsilon);
  p.y = empty(x.shape(), DType::f32, x.device());
  p.mean = empty(p.row_shape, DType::f32, x.device());
  p.rstd = empty(p.row_shape, DType::f32, x.device());
  choose(op, row_variants<ForwardProblem, run_forward>, p, x.device().info()).run(p);
  return {p.y, p.mean, p.rstd};
}

NormGradients layer_norm_backward(const Tensor& dy, const Tensor& x, const Shape& normalized_shape,
                                  const Tensor& weight, const Tensor& mean, const Tensor& rstd, bool parameters) {
  constexpr const char* op = "layer_norm_backward";
  BackwardProblem p{problem_of(op, x, normalized_shape, weight, {}), {}, {}};
  require_operand(op, "the input", x, "the result's gradient", dy, x.shape());
  require_operand(op, "the input", x, "the mean", mean, p.row_shape);
  require_operand(op, "the input", x, "rstd", rstd, p.row_shape);
  p.dy = contiguous(dy);
  p.mean = contiguous(mean);
  p.rstd = contiguous(rstd);
  p.gradients.x = empty(x.shape(), DType::f32, x.device());
  if (parameters) {
    p.gradients.weight = empty(normalized_shape, DType::f32, x.device());
    p.gradients.bias = empty(normalized_shape, DType::f32, x.device());
  }
  choose(op, row_variants<BackwardProblem, run_backward>, p, x.device().info()).run(p);
  return p.gradients;
}

}  // namespace crisol::ops
