#include "crisol/ops/copy.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/index/indexing.h"
#include "ops/rowwise/label_loss.h"

namespace crisol::ops {

namespace {

constexpr const char* cross_entropy_source = "rowwise/cross_entropy.cl";
constexpr CallScalar smoothing{0};

Plan plan_forward(const LabelLossProblem& p, const Target& target, const RowGeometry& g) {
  const auto [logits, labels, rows, moments, loss, scale, fault] = operands<7>();
  Plan plan;
  plan.add(label_loss_spec(p, target, g, cross_entropy_source, "cross_entropy_rows"),
           g.each_row(target, p.rows, p.length), logits, labels, rows, moments, fault, p.rows, p.length, p.ignore_index,
           runtime::fault_number("cross_entropy", runtime::FaultKind::label), smoothing);
  add_total(plan, p, target, g, cross_entropy_source, rows, labels, loss, scale);
  return plan;
}

Plan plan_backward(const LabelLossProblem& p, const Target& target, const RowGeometry& g) {
  const auto [dy, logits, labels, moments, scale, dx] = operands<6>();
  const std::int64_t dy_step = p.reduces() ? 0 : 1;
  Plan plan;
  plan.add(label_loss_spec(p, target, g, cross_entropy_source, "cross_entropy_backward"),
           g.each_row(target, p.rows, p.length), dy, logits, labels, moments, scale, dx, p.rows, p.length,
           p.ignore_index, smoothing, dy_step);
  return plan;
}

const Table<LabelLossProblem> label_loss_forward_table("cross_entropy",
                                                       lane_row_variants<LabelLossProblem, plan_forward>);
const Table<LabelLossProblem> label_loss_backward_table("cross_entropy_backward",
                                                        lane_row_variants<LabelLossProblem, plan_backward>);

LabelLossProblem problem_of(const char* op, const Tensor& logits, const Tensor& labels,
                            const CrossEntropyOptions& options) {
  require(options.label_smoothing >= 0 && options.label_smoothing <= 1, op, "label_smoothing must be in [0, 1], it is ",
          options.label_smoothing);
  return label_loss_problem(op, logits, labels, options.reduction, options.ignore_index);
}

}  // namespace

CrossEntropyResult cross_entropy(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& options) {
  const LabelLossProblem p = problem_of(label_loss_forward_table.op, logits, labels, options);
  check_indices(label_loss_forward_table.op, labels, p.length, options.ignore_index);
  const Contiguous scores(logits), classes(labels);
  const Tensor moments = empty({p.rows, 2}, DType::f32, logits.device());
  runtime::FaultFlag& fault = fault_flag_of(state_of(logits));
  const PreparedPtr prepared = prepare(label_loss_forward_table, p, state_of(logits));
  const LabelLossOutput to = make_label_loss_output(p, logits.device());
  launch(*prepared, {in(scores), in(classes), out(to.rows), out(moments), out(to.loss), out(to.scale), fault.words()},
         {static_cast<float>(options.label_smoothing)});
  fault.expect();
  return {to.loss, moments, to.scale};
}

Tensor cross_entropy_backward(const Tensor& dy, const Tensor& logits, const Tensor& labels,
                              const CrossEntropyResult& forward, const CrossEntropyOptions& options) {
  const char* const op = label_loss_backward_table.op;
  const LabelLossProblem p = problem_of(op, logits, labels, options);
  require_loss_gradient(op, dy, labels, options.reduction);
  require_operand(op, "the input", logits, "the rows' moments", forward.moments, {p.rows, 2});
  require_operand(op, "the input", logits, "the scale", forward.scale, {});
  const Contiguous gradient(dy), scores(logits), classes(labels);
  const Contiguous moments(forward.moments);
  const Tensor dx = empty(logits.shape(), logits.dtype(), logits.device());
  const PreparedPtr prepared = prepare(label_loss_backward_table, p, state_of(logits));
  launch(*prepared, {in(gradient), in(scores), in(classes), in(moments), in(forward.scale), out(dx)},
         {static_cast<float>(options.label_smoothing)});
  return dx;
}

}  // namespace crisol::ops
