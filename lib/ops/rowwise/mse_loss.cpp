#include <limits>

#include "crisol/ops/copy.h"
#include "crisol/ops/loss.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/result.h"
#include "ops/rowwise/rows.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

/// All elements form one row.
struct MseProblem : RowProblem {
  std::int64_t reduction;  ///< A Reduction.

  bool reduces() const noexcept { return static_cast<Reduction>(reduction) != Reduction::none; }
  // Without elements the scale is NaN, so that the mean is 0 * NaN.
  float scale() const {
    if (static_cast<Reduction>(reduction) != Reduction::mean) return 1;
    return length == 0 ? std::numeric_limits<float>::quiet_NaN() : 1.0f / static_cast<float>(length);
  }
};

runtime::KernelSpec spec_of(const MseProblem& p, const Target& target, const RowGeometry& g, const char* entry) {
  runtime::Defines defines = row_defines(target, g, p.type);
  defines.add({"EACH", p.reduces() ? 0 : 1});
  return {"rowwise/mse_loss.cl", entry, defines};
}

Plan plan_forward(const MseProblem& p, const Target& device, const RowGeometry& g) {
  const auto [x, target, loss] = operands<3>();
  const std::int64_t parts = g.parts_of(g.chunks_of(p.length));
  Plan plan;
  const Place to = p.reduces() ? plan.workspace(4 * static_cast<std::uint64_t>(parts)) : loss;
  plan.add(spec_of(p, device, g, "mse_forward"), g.range(parts), x, target, to, p.length, parts);
  if (!p.reduces()) return plan;
  const RowGeometry last = total_row(device, g, parts);
  plan.add(spec_of(p, device, last, "mse_total"), last.range(1), to, loss, parts, p.scale());
  return plan;
}

Plan plan_backward(const MseProblem& p, const Target& device, const RowGeometry& g) {
  const auto [dy, x, target, dx] = operands<4>();
  const std::int64_t parts = g.parts_of(g.chunks_of(p.length));
  Plan plan;
  plan.add(spec_of(p, device, g, "mse_backward"), g.range(parts), dy, x, target, dx, p.length, parts, p.scale());
  return plan;
}

const Table<MseProblem> mse_forward_table("mse_loss", row_variants<MseProblem, plan_forward>);
const Table<MseProblem> mse_backward_table("mse_loss_backward", row_variants<MseProblem, plan_backward>);

MseProblem problem_of(const char* op, const Tensor& x, const Tensor& target, Reduction reduction) {
  require_storage(op, "the input", x);
  require_operand(op, "the input", x, "the target", target, x.shape(), x.dtype());
  return {{1, x.numel(), 1, storage_of(x)}, static_cast<std::int64_t>(reduction)};
}

Shape shape_of_loss(const Tensor& x, Reduction reduction) { return reduction == Reduction::none ? x.shape() : Shape{}; }

Tensor mse_loss(const Tensor& x, const Tensor& target, Reduction reduction, const Tensor* into) {
  const MseProblem p = problem_of(mse_forward_table.op, x, target, reduction);
  const Contiguous values(x), targets(target);
  Result loss(mse_forward_table.op, into, shape_of_loss(x, reduction), DType::f32, x.device(), {&x, &target});
  const PreparedPtr prepared = prepare(mse_forward_table, p, state_of(x));
  launch(*prepared, {in(values), in(targets), out(loss)});
  return loss.done();
}

Tensor mse_loss_backward(const Tensor& dy, const Tensor& x, const Tensor& target, Reduction reduction,
                         const Tensor* into) {
  const MseProblem p = problem_of(mse_backward_table.op, x, target, reduction);
  require_operand(mse_backward_table.op, "the input", x, "the loss' gradient", dy, shape_of_loss(x, reduction));
  const Contiguous gradient(dy), values(x), targets(target);
  Result dx(mse_backward_table.op, into, x.shape(), x.dtype(), x.device(), {&dy, &x, &target});
  const PreparedPtr prepared = prepare(mse_backward_table, p, state_of(x));
  launch(*prepared, {in(gradient), in(values), in(targets), out(dx)});
  return dx.done();
}

}  // namespace

Tensor mse_loss(const Tensor& x, const Tensor& target, Reduction reduction) {
  return mse_loss(x, target, reduction, nullptr);
}
void mse_loss_into(const Tensor& loss, const Tensor& x, const Tensor& target, Reduction reduction) {
  mse_loss(x, target, reduction, &loss);
}

Tensor mse_loss_backward(const Tensor& dy, const Tensor& x, const Tensor& target, Reduction reduction) {
  return mse_loss_backward(dy, x, target, reduction, nullptr);
}
void mse_loss_backward_into(const Tensor& dx, const Tensor& dy, const Tensor& x, const Tensor& target,
                            Reduction reduction) {
  mse_loss_backward(dy, x, target, reduction, &dx);
}

}  // namespace crisol::ops
