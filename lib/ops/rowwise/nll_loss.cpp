#include "crisol/ops/copy.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/index/indexing.h"
#include "ops/rowwise/label_loss.h"

namespace crisol::ops {

namespace {

constexpr const char* nll_loss_source = "rowwise/nll_loss.cl";

/// It has no key, because there is one variant and nothing to tune.
struct NllProblem {
  LabelLossProblem loss;
};

PlanOr plan_forward(const NllProblem& problem, const Target& target, std::size_t) {
  const LabelLossProblem& p = problem.loss;
  const auto [scores, labels, rows, loss, scale, fault] = operands<6>();
  const RowGeometry g = item_rows(target);
  Plan plan;
  plan.add(label_loss_spec(p, target, g, nll_loss_source, "nll_rows"), g.items(p.rows), scores, labels, rows, fault,
           p.rows, p.length, p.ignore_index, runtime::fault_number("nll_loss", runtime::FaultKind::label));
  add_total(plan, p, target, g, nll_loss_source, rows, labels, loss, scale);
  return plan;
}

PlanOr plan_backward(const NllProblem& problem, const Target& target, std::size_t) {
  const LabelLossProblem& p = problem.loss;
  const auto [dy, labels, scale, dx] = operands<4>();
  const RowGeometry g = item_rows(target);
  const std::int64_t dy_step = p.reduces() ? 0 : 1;
  Plan plan;
  plan.add(label_loss_spec(p, target, g, nll_loss_source, "nll_backward"), g.items(p.rows * p.length), dy, labels,
           scale, dx, p.rows, p.length, p.ignore_index, dy_step);
  return plan;
}

constexpr Variant<NllProblem> nll_forward_variants[] = {{"rows", DeviceClass::any, plan_forward}};
constexpr Variant<NllProblem> nll_backward_variants[] = {{"items", DeviceClass::any, plan_backward}};
const Table<NllProblem> nll_forward_table("nll_loss", nll_forward_variants);
const Table<NllProblem> nll_backward_table("nll_loss_backward", nll_backward_variants);

}  // namespace

NllResult nll_loss(const Tensor& x, const Tensor& labels, Reduction reduction, std::int64_t ignore_index) {
  const LabelLossProblem p = label_loss_problem(nll_forward_table.op, x, labels, reduction, ignore_index);
  check_indices(nll_forward_table.op, labels, p.length, ignore_index);
  const Contiguous scores(x), classes(labels);
  const PreparedPtr prepared = prepare(nll_forward_table, {p}, state_of(x));
  const LabelLossOutput to = make_label_loss_output(p, x.device());
  runtime::FaultFlag& fault = fault_flag_of(state_of(x));
  launch(*prepared, {in(scores), in(classes), out(to.rows), out(to.loss), out(to.scale), fault.words()});
  fault.expect();
  return {to.loss, to.scale};
}

Tensor nll_loss_backward(const Tensor& dy, const Tensor& labels, const Tensor& scale, std::int64_t classes,
                         Reduction reduction, std::int64_t ignore_index) {
  const char* const op = nll_backward_table.op;
  require(labels.dim() == 1, op, "the labels must be (N), their shape is ", labels.shape());
  require(classes > 0, op, "there must be a class, not ", classes);
  const Tensor dx = empty({labels.numel(), classes}, DType::f32, labels.device());
  const LabelLossProblem p = label_loss_problem(op, dx, labels, reduction, ignore_index);
  require_loss_gradient(op, dy, labels, reduction);
  require_operand(op, "the labels", labels, "the scale", scale, {});
  const Contiguous gradient(dy), positions(labels);
  const PreparedPtr prepared = prepare(nll_backward_table, {p}, state_of(dx));
  launch(*prepared, {in(gradient), in(positions), in(scale), out(dx)});
  return dx;
}

}  // namespace crisol::ops
