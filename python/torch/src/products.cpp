// Products of matrices, and decompositions.
#include "call.h"

namespace crisol_torch {

namespace {

namespace ops = crisol::ops;
using crisol::Shape;
using crisol::Tensor;

// beta c + alpha product. With beta 0, c is not read.
void combine(const Tensor& out, const Tensor& c, const Tensor& product, const crisol::Scalar& beta,
             const crisol::Scalar& alpha) {
  if (beta.as_double() == 0) return ops::mul_into(out, product, alpha);
  const bool scales = beta.as_double() != 1;
  ops::addcmul_into(out, scales ? ops::mul(c, beta) : c, product, 1, alpha);
}

bool is_one(const crisol::Scalar& number) { return number.as_double() == 1; }

// NAME.out(c, a, b, beta, alpha, out)
void add_product(const Call& call, const Tensor& out) {
  const Tensor a = call.tensor(1), b = call.tensor(2);
  const crisol::Scalar beta = call.scalar(3), alpha = call.scalar(4);
  if (beta.as_double() == 0 && is_one(alpha)) return ops::matmul_into(out, a, b);
  const Tensor c = call.tensor(0);
  if (is_one(beta) && is_one(alpha) && c.dim() == 1 && a.dim() == 2 && c.size(0) == b.size(1))
    return ops::linear_into(out, a, ops::transpose(b, 0, 1), c);
  combine(out, c, ops::matmul(a, b), beta, alpha);
}

// addmv.out(c, matrix, vector, beta, alpha, out)
void add_vector_product(const Call& call, const Tensor& out) {
  const Tensor product = ops::matmul(call.tensor(1), ops::unsqueeze(call.tensor(2), 1));
  combine(out, call.tensor(0), ops::squeeze(product, 1), call.scalar(3), call.scalar(4));
}

Tensor dot(const Call& call) {
  const Tensor a = call.tensor(0), b = call.tensor(1);
  need(a.dim() == 1 && b.dim() == 1 && a.numel() == b.numel() && a.dtype() == b.dtype(), "the operands of dot");
  return ops::reshape(ops::matmul(ops::unsqueeze(a, 0), ops::unsqueeze(b, 1)), {});
}

void qr(const Call& call, const Tensor& q, const Tensor& r) {
  const std::string mode = call.value(1).toStringRef();
  need(mode != "r", "qr without Q");
  ops::qr_into(q, r, call.tensor(0), mode == "complete");
}

}  // namespace

Rows product_rows() {
  return {
      {"mm.out", into([](const Call& c, const Tensor& out) { ops::matmul_into(out, c.tensor(0), c.tensor(1)); })},
      {"bmm.out", into([](const Call& c, const Tensor& out) { ops::matmul_into(out, c.tensor(0), c.tensor(1)); })},
      {"addmm.out", into(add_product)},
      {"baddbmm.out", into(add_product)},
      {"addmv.out", into(add_vector_product)},
      {"dot", gives(dot)},
      {"vdot", gives(dot)},
      {"linalg_qr.out",
       [](const Call& c) {
         qr(c, c.tensor(2), c.tensor(3));
         return Results{c.value(2), c.value(3)};
       }},
  };
}

}  // namespace crisol_torch
