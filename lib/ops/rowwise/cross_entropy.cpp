#include "crisol/ops/copy.h"
#include "ops/check.h"
#include "ops/rowwise/label_loss.h"

namespace crisol::ops {

namespace {

struct ForwardProblem : LabelLossProblem {
  LabelLossOutput to;
  Tensor moments;
};

void run_forward(const ForwardProblem& p, const RowGeometry& g) {
  runtime::Kernel& rows = runtime::resolve(p.device, label_loss_spec(p, g, "cross_entropy_rows"));
  runtime::Kernel& total = total_kernel(p, g);
  runtime::launch(p.device, rows, g.each_row(p.device, p.rows, p.classes), in(p.scores), in(p.labels), out(p.to.rows),
                  out(p.moments), p.rows, p.classes, p.ignore_index, p.smoothing);
  launch_total(p, g, total, p.to);
}

struct BackwardProblem : LabelLossProblem {
  Tensor dy, moments, scale, dx;
};

void run_backward(const BackwardProblem& p, const RowGeometry& g) {
  const std::int64_t dy_step = p.reduction == Reduction::none ? 1 : 0;
  runtime::launch(p.device, label_loss_spec(p, g, "cross_entropy_backward"), g.each_row(p.device, p.rows, p.classes),
                  in(p.dy), in(p.scores), in(p.labels), in(p.moments), in(p.scale), out(p.dx), p.rows, p.classes,
                  p.ignore_index, p.smoothing, dy_step);
}

LabelLossProblem problem_of(const char* op, const Tensor& logits, const Tensor& labels,
                            const CrossEntropyOptions& options) {
  require(options.label_smoothing >= 0 && options.label_smoothing <= 1, op, "label_smoothing must be in [0, 1], it is ",
          options.label_smoothing);
  LabelLossProblem p = label_loss_problem(op, logits, labels, options.reduction, options.ignore_index);
  p.smoothing = static_cast<float>(options.label_smoothing);
  return p;
}

}  // namespace

CrossEntropyResult cross_entropy(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& options) {
  ForwardProblem p{problem_of("cross_entropy", logits, labels, options), {}, {}};
  p.to = make_label_loss_output(p);
  p.moments = empty({p.rows, 2}, DType::f32, logits.device());
  choose("cross_entropy", row_variants<ForwardProblem, run_forward>, p, logits.device().info()).run(p);
  return {p.to.loss, p.moments, p.to.scale};
}

Tensor cross_entropy_backward(const Tensor& dy, const Tensor& logits, const Tensor& labels,
                              const CrossEntropyResult& forward, const CrossEntropyOptions& options) {
  constexpr const char* op = "cross_entropy_backward";
  BackwardProblem p{problem_of(op, logits, labels, options), {}, {}, {}, {}};
  require_loss_gradient(op, dy, labels, options.reduction);
  require_operand(op, "the input", logits, "the rows' moments", forward.moments, {p.rows, 2});
  require_operand(op, "the input", logits, "the scale", forward.scale, {});
  p.dy = contiguous(dy);
  p.moments = contiguous(forward.moments);
  p.scale = forward.scale;
  p.dx = empty(logits.shape(), DType::f32, logits.device());
  choose(op, row_variants<BackwardProblem, run_backward>, p, logits.device().info()).run(p);
  return p.dx;
}

}  // namespace crisol::ops
