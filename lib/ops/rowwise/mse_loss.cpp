#include <limits>

#include "crisol/ops/copy.h"
#include "crisol/ops/loss.h"
#include "ops/check.h"
#include "ops/rowwise/rows.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

struct MseProblem : RowProblem {
  Reduction reduction;
  Tensor x, target, loss;
  Tensor dy, dx;  // Backward only.

  // Without elements the mean is 0 * NaN.
  float scale() const {
    if (reduction != Reduction::mean) return 1;
    return length == 0 ? std::numeric_limits<float>::quiet_NaN() : 1.0f / static_cast<float>(length);
  }
};

runtime::KernelSpec spec_of(const MseProblem& p, const RowGeometry& g, const char* entry) {
  runtime::Defines defines = row_defines(p.device, g);
  defines.add({"EACH", p.reduction == Reduction::none ? 1 : 0});
  return {"rowwise/mse_loss.cl", entry, std::move(defines)};
}

void run_forward(const MseProblem& p, const RowGeometry& g) {
  const std::int64_t parts = g.parts_of(g.chunks_of(p.length));
  runtime::Kernel& forward = runtime::resolve(p.device, spec_of(p, g, "mse_forward"));
  if (p.reduction == Reduction::none) {
    runtime::launch(p.device, forward, g.range(parts), in(p.x), in(p.target), out(p.loss), p.length, parts);
    return;
  }
  const RowGeometry last = total_row(p.device, g, parts);
  runtime::Kernel& total = runtime::resolve(p.device, spec_of(p, last, "mse_total"));
  const Tensor partial = empty({parts}, DType::f32, p.x.device());
  runtime::launch(p.device, forward, g.range(parts), in(p.x), in(p.target), out(partial), p.length, parts);
  runtime::launch(p.device, total, last.range(1), in(partial), out(p.loss), parts, p.scale());
}

void run_backward(const MseProblem& p, const RowGeometry& g) {
  const std::int64_t parts = g.parts_of(g.chunks_of(p.length));
  runtime::launch(p.device, spec_of(p, g, "mse_backward"), g.range(parts), in(p.dy), in(p.x), in(p.target), out(p.dx),
                  p.length, parts, p.scale());
}

MseProblem problem_of(const char* op, const Tensor& x, const Tensor& target, Reduction reduction) {
  require_dtype(op, "the input", x, DType::f32);
  require_operand(op, "the input", x, "the target", target, x.shape());
  return {{state_of(x), 1, x.numel(), 1}, reduction, contiguous(x), contiguous(target), {}, {}, {}};
}

Shape shape_of_loss(const Tensor& x, Reduction reduction) { return reduction == Reduction::none ? x.shape() : Shape{}; }

}  // namespace

Tensor mse_loss(const Tensor& x, const Tensor& target, Reduction reduction) {
  MseProblem p = problem_of("mse_loss", x, target, reduction);
  p.loss = empty(shape_of_loss(x, reduction), DType::f32, x.device());
  choose("mse_loss", row_variants<MseProblem, run_forward>, p, x.device().info()).run(p);
  return p.loss;
}

Tensor mse_loss_backward(const Tensor& dy, const Tensor& x, const Tensor& target, Reduction reduction) {
  constexpr const char* op = "mse_loss_backward";
  MseProblem p = problem_of(op, x, target, reduction);
  require_operand(op, "the input", x, "the loss' gradient", dy, shape_of_loss(x, reduction));
  p.dy = contiguous(dy);
  p.dx = empty(x.shape(), DType::f32, x.device());
  choose(op, row_variants<MseProblem, run_backward>, p, x.device().info()).run(p);
  return p.dx;
}

}  // namespace crisol::ops
