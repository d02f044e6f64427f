#include "crisol/ops/copy.h"
#include "ops/check.h"
#include "ops/rowwise/label_loss.h"

namespace crisol::ops {

NllResult nll_loss(const Tensor& x, const Tensor& labels, Reduction reduction, std::int64_t ignore_index) {
  const LabelLossProblem p = label_loss_problem("nll_loss", x, labels, reduction, ignore_index);
  const LabelLossOutput to = make_label_loss_output(p);
  const RowGeometry g = item_rows(p.device);
  runtime::Kernel& rows = runtime::resolve(p.device, label_loss_spec(p, g, "nll_rows"));
  runtime::Kernel& total = total_kernel(p, g);
  runtime::launch(p.device, rows, g.items(p.rows), in(p.scores), in(p.labels), out(to.rows), p.rows, p.classes,
                  p.ignore_index);
  launch_total(p, g, total, to);
  return {to.loss, to.scale};
}

Tensor nll_loss_backward(const Tensor& dy, const Tensor& labels, const Tensor& scale, std::int64_t classes,
                         Reduction reduction, std::int64_t ignore_index) {
  constexpr const char* op = "nll_loss_backward";
  require(labels.dim() == 1, op, "the labels must be (N), their shape is ", labels.shape());
  require(classes > 0, op, "there must be a class, not ", classes);
  const Tensor dx = empty({labels.numel(), classes}, DType::f32, labels.device());
  const LabelLossProblem p = label_loss_problem(op, dx, labels, reduction, ignore_index);
  require_loss_gradient(op, dy, labels, reduction);
  require_operand(op, "the labels", labels, "the scale", scale, {});
  const RowGeometry g = item_rows(p.device);
  const std::int64_t dy_step = reduction == Reduction::none ? 1 : 0;
  runtime::launch(p.device, label_loss_spec(p, g, "nll_backward"), g.items(dx.numel()), in(contiguous(dy)),
                  in(p.labels), in(scale), out(dx), p.rows, classes, ignore_index, dy_step);
  return dx;
}

}  // namespace crisol::ops
