#include "crisol/ops/softmax.h"

#include "base/text.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/reduce.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/result.h"
#include "ops/rowwise/rows.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

struct SoftmaxProblem : RowProblem {
  std::int64_t log;  ///< 1 for log-softmax.
};

// The layout (outer, n, inner) around the axis.
SoftmaxProblem problem_of(const char* op, const Tensor& x, int axis, bool log) {
  axis = axis_or_scalar(op, axis, x.dim());
  std::int64_t inner = 1;
  for (int i = axis + 1; i < x.dim(); ++i) inner *= x.shape()[i];
  const std::int64_t n = x.dim() == 0 ? 1 : x.shape()[axis];
  return {{n == 0 ? 0 : x.numel() / n, n, inner, storage_of(x)}, log ? 1 : 0};
}

runtime::KernelSpec spec_of(const SoftmaxProblem& p, const Target& target, const RowGeometry& g, const char* entry) {
  runtime::Defines defines = row_defines(target, g, p.type);
  defines.add({"LOG", p.log});
  return {"rowwise/softmax.cl", entry, defines};
}

Plan plan_forward(const SoftmaxProblem& p, const Target& target, const RowGeometry& g) {
  const auto [x, y] = operands<2>();
  runtime::KernelSpec spec = spec_of(p, target, g, "softmax_forward");
  const runtime::NdRange range = g.each_row(target, p.rows, p.length, p.step);
  Plan plan;
  // Where an item has whole rows of halves, their exponentials are kept as floats. On many cores, long rows would need
  // too much memory for that.
  constexpr std::uint64_t most_bytes = 1 << 24;
  const std::uint64_t bytes = 4 * range.global[0] * static_cast<std::uint64_t>(p.length);
  ArgList scratch;
  if (g.lanes > 1 && !g.in_lanes && p.type != 0 && p.log == 0 && bytes <= most_bytes) {
    spec.defines.add({"KEPT_IN_SCRATCH", 1});
    scratch.emplace_back(plan.workspace(bytes));
  }
  plan.add(spec, range, x, y, scratch, p.rows, p.length, p.step);
  return plan;
}

Plan plan_backward(const SoftmaxProblem& p, const Target& target, const RowGeometry& g) {
  const auto [dy, y, dx] = operands<3>();
  Plan plan;
  plan.add(spec_of(p, target, g, "softmax_backward"), g.each_row(target, p.rows, p.length, p.step), dy, y, dx, p.rows,
           p.length, p.step);
  return plan;
}

using SoftmaxTable = Table<SoftmaxProblem>;
const SoftmaxTable softmax_table("softmax", lane_row_variants<SoftmaxProblem, plan_forward>);
const SoftmaxTable softmax_backward_table("softmax_backward", lane_row_variants<SoftmaxProblem, plan_backward>);
const SoftmaxTable log_softmax_table("log_softmax", lane_row_variants<SoftmaxProblem, plan_forward>);
const SoftmaxTable log_softmax_backward_table("log_softmax_backward", lane_row_variants<SoftmaxProblem, plan_backward>);

void require_floating(const char* op, const Tensor& x) {
  require(is_floating(x.dtype()), op, "the input must be ", TypesThat{is_floating}, ", it is ", x.dtype());
}

Tensor forward(const SoftmaxTable& table, const Tensor& x, int axis, bool log, const Tensor* into = nullptr) {
  require_floating(table.op, x);
  const SoftmaxProblem p = problem_of(table.op, x, axis, log);
  Result y(table.op, into, x.shape(), x.dtype(), x.device(), {&x});
  if (!computes_in_f32(x.dtype())) {
    const Tensor logarithms = sub(x, logsumexp(x, {axis}, true));
    copy_into(y.place(), log ? logarithms : exp(logarithms));
    return y.done();
  }
  const Contiguous rows(x);
  const PreparedPtr prepared = prepare(table, p, state_of(x));
  launch(*prepared, {in(rows), out(y)});
  return y.done();
}

Tensor backward(const SoftmaxTable& table, const Tensor& dy, const Tensor& y, int axis, bool log,
                const Tensor* into = nullptr) {
  require_floating(table.op, y);
  const SoftmaxProblem p = problem_of(table.op, y, axis, log);
  require_dtype(table.op, "the gradient", dy, y.dtype());
  require_shape(table.op, "the gradient", dy, y.shape());
  require_device(table.op, "the result", y, "its gradient", dy);
  Result dx(table.op, into, y.shape(), y.dtype(), y.device(), {&dy, &y});
  if (!computes_in_f32(y.dtype())) {
    copy_into(dx.place(),
              log ? sub(dy, mul(exp(y), sum(dy, {axis}, true))) : mul(y, sub(dy, sum(mul(dy, y), {axis}, true))));
    return dx.done();
  }
  const Contiguous results(y), gradients(dy);
  const PreparedPtr prepared = prepare(table, p, state_of(y));
  launch(*prepared, {in(gradients), in(results), out(dx)});
  return dx.done();
}

}  // namespace

Tensor softmax(const Tensor& x, int axis) { return forward(softmax_table, x, axis, false); }
void softmax_into(const Tensor& y, const Tensor& x, int axis) { forward(softmax_table, x, axis, false, &y); }

Tensor softmax_backward(const Tensor& dy, const Tensor& y, int axis) {
  return backward(softmax_backward_table, dy, y, axis, false);
}
void softmax_backward_into(const Tensor& dx, const Tensor& dy, const Tensor& y, int axis) {
  backward(softmax_backward_table, dy, y, axis, false, &dx);
}

Tensor log_softmax(const Tensor& x, int axis) { return forward(log_softmax_table, x, axis, true); }
void log_softmax_into(const Tensor& y, const Tensor& x, int axis) { forward(log_softmax_table, x, axis, true, &y); }

Tensor log_softmax_backward(const Tensor& dy, const Tensor& y, int axis) {
  return backward(log_softmax_backward_table, dy, y, axis, true);
}
void log_softmax_backward_into(const Tensor& dx, const Tensor& dy, const Tensor& y, int axis) {
  backward(log_softmax_backward_table, dy, y, axis, true, &dx);
}

}  // namespace crisol::ops
