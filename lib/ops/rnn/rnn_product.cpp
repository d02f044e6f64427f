#include "ops/rnn/rnn_product.h"

#include <array>

namespace crisol::ops {

namespace {

/// Operands that a product does not have are given as A.
void append_product(Plan& plan, const Plan& product, Place a, Place b, Place c, Place bias) {
  plan.append_sharing(product, std::array{a, b, c, bias, a, a});
}

}  // namespace

void add_input_product(Plan& plan, const RnnForward& p, const Target& target) {
  const RnnForwardOperands o;
  GemmProblem product = p.product_of(p.steps * p.batch, p.gate_rows(), p.inputs);
  product.a = {p.inputs, 1, 0, p.x_offset, p.type};
  product.b = MatrixLayout{p.inputs, 1, 0, p.weight_ih_offset, p.type}.transposed();
  product.c = {p.saved_columns(), 1};
  product.flags = p.biased != 0 ? bias_per_column : 0;
  append_product(plan, choose_gemm(product, target).plan, o.x, o.weight_ih, o.gates, o.bias_ih);
}

void StepProduct::add(Plan& plan, Place a, Place c) {
  GemmProblem product = problem_;
  product.a.offset = a.offset % offset_period;
  product.c.offset = c.offset % offset_period;
  append_product(plan, plan_of(product), a, weight_, c, a);
}

const Plan& StepProduct::plan_of(const GemmProblem& problem) {
  for (const Known& known : known_)
    if (known.problem.a.offset == problem.a.offset && known.problem.c.offset == problem.c.offset) return known.plan;
  known_.push_back({problem, choose_gemm(problem, target_).plan});
  return known_.back().plan;
}

}  // namespace crisol::ops
