// qr, eigh and svd with gradients.
#include <algorithm>
#include <array>
#include <limits>

#include "autograd/call.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/compare.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/linalg.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/select.h"
#include "crisol/functions/triangle.h"
#include "crisol/ops/decompose.h"
#include "ops/decompose/check.h"

namespace crisol {

using autograd::call_many;
using autograd::Gradients;
using autograd::Needs;
using autograd::SavedResult;
using autograd::unnoted;

namespace {

Tensor transposed(const Tensor& x) { return matrix_transpose(x); }

/// a + b. Either may be undefined.
Tensor plus(const Tensor& a, const Tensor& b) {
  if (!a.defined()) return b;
  return b.defined() ? a + b : a;
}

/// Matrices (…, n, n) with `values` (…, n) on the diagonal.
Tensor diagonal_of(const Tensor& values) {
  return values.unsqueeze(-1) * eye(values.size(-1), {}, values.dtype(), values.device());
}

/// y[…, i, j] = values[…, j] - values[…, i]. The diagonal is infinite, so that a quotient with this denominator is 0.
Tensor gaps(const Tensor& values) {
  const Tensor differences = values.unsqueeze(-2) - values.unsqueeze(-1);
  const Tensor same = eye(values.size(-1), {}, DType::boolean, values.device());
  return where(same, std::numeric_limits<double>::infinity(), differences);
}

/// The gradient of qr, from the gradients of R (…, n, n) and Q (…, m, n): (dQ + Q S) R^-T. S is the upper triangle of
/// dR R^T - Q^T dQ, made symmetric.
Tensor qr_gradient(const Tensor& dq, const Tensor& dr, const Tensor& q, const Tensor& r) {
  const Tensor from_r = dr.defined() ? matmul(dr, transposed(r)) : Tensor();
  const Tensor from_q = dq.defined() ? -matmul(transposed(q), dq) : Tensor();
  const Tensor upper = triu(plus(from_r, from_q));
  const Tensor symmetric = triu(upper, 1) + transposed(upper);
  return transposed(solve(r, transposed(plus(matmul(q, symmetric), dq))));
}

/// The gradient of svd, from the gradients of U (…, m, k), S (…, k) and V^T (…, k, n). With E[i, j] = S[j]^2 - S[i]^2
/// it is
///
///     U (((U^T dU - dU^T U) / E) S + S ((V^T dV - dV^T V) / E) + diag(dS)) V^T
///         + (1 - U U^T) dU S^-1 V^T + U S^-1 dV^T (1 - V V^T)
///
/// Source: Townsend, Differentiating the singular value decomposition, 2016.
Tensor svd_gradient(const Tensor& du, const Tensor& ds, const Tensor& dvh, const Tensor& u, const Tensor& s,
                    const Tensor& vh) {
  const Tensor of_rows = s.unsqueeze(-1), of_columns = s.unsqueeze(-2);
  const auto turning = [&](const Tensor& x) { return (x - transposed(x)) / gaps(s * s); };
  Tensor middle = ds.defined() ? diagonal_of(ds) : Tensor();
  if (du.defined()) middle = plus(middle, turning(matmul(transposed(u), du)) * of_columns);
  if (dvh.defined()) middle = plus(middle, of_rows * turning(matmul(vh, transposed(dvh))));
  Tensor dx = matmul(matmul(u, middle), vh);
  if (du.defined() && u.size(-2) > u.size(-1)) {
    const Tensor part = du / of_columns;
    dx = dx + matmul(part - matmul(u, matmul(transposed(u), part)), vh);
  }
  if (dvh.defined() && vh.size(-1) > vh.size(-2)) {
    const Tensor part = dvh / of_rows;
    dx = dx + matmul(u, part - matmul(matmul(part, transposed(vh)), vh));
  }
  return dx;
}

}  // namespace

QrResult qr(const Tensor& x, bool complete) {
  const QrResult y = ops::qr(x, complete);
  const auto recorded = call_many("qr", {x}, std::array{y.q, y.r}, unnoted, [&] {
    return [q = SavedResult(y.q, 0), r = SavedResult(y.r, 1), m = x.size(-2), n = x.size(-1), complete](
               const Gradients& dy, Needs) {
      require(!complete || m <= n, "qr", "the complete form of a matrix with more rows than columns, (", m, ", ", n,
              "), has no gradient");
      const Tensor &dq = dy[0], &dr = dy[1];
      if (m >= n) return Gradients{qr_gradient(dq, dr, q.get(), r.get())};
      // A wide matrix is (A, B) with the square A = Q R1, and R is (R1, Q^T B).
      const Tensor left = r.get().narrow(-1, 0, m), right = r.get().narrow(-1, m, n - m);
      if (!dr.defined()) return Gradients{cat({qr_gradient(dq, dr, q.get(), left), zeros_like(right)}, -1)};
      const Tensor of_right = dr.narrow(-1, m, n - m);
      const Tensor of_q = plus(dq, matmul(matmul(q.get(), right), transposed(of_right)));
      return Gradients{cat({qr_gradient(of_q, dr.narrow(-1, 0, m), q.get(), left), matmul(q.get(), of_right)}, -1)};
    };
  });
  return {recorded[0], recorded[1]};
}

EighResult eigh(const Tensor& x) {
  const EighResult y = ops::eigh(x);
  const auto recorded = call_many("eigh", {x}, std::array{y.eigenvalues, y.eigenvectors}, unnoted, [&] {
    return
        [values = SavedResult(y.eigenvalues, 0), vectors = SavedResult(y.eigenvectors, 1)](const Gradients& dy, Needs) {
          // V (diag(dl) + (V^T dV) / E) V^T with E[i, j] = l[j] - l[i]. The gradient is symmetric, like x.
          const Tensor v = vectors.get();
          Tensor middle = dy[0].defined() ? diagonal_of(dy[0]) : Tensor();
          if (dy[1].defined()) middle = plus(middle, matmul(transposed(v), dy[1]) / gaps(values.get()));
          const Tensor dx = matmul(matmul(v, middle), transposed(v));
          return Gradients{(dx + transposed(dx)) * 0.5};
        };
  });
  return {recorded[0], recorded[1]};
}

Tensor eigvalsh(const Tensor& x) {
  ops::require_square("eigvalsh", x);
  return eigh(x).eigenvalues;
}

SvdResult svd(const Tensor& x, bool full_matrices) {
  const SvdResult y = ops::svd(x, full_matrices);
  const auto recorded = call_many("svd", {x}, std::array{y.u, y.s, y.vh}, unnoted, [&] {
    const std::int64_t k = std::min(x.size(-2), x.size(-1));
    return
        [u = SavedResult(y.u, 0), s = SavedResult(y.s, 1), vh = SavedResult(y.vh, 2), k](const Gradients& dy, Needs) {
          // The full form has more vectors, which may be any basis. So they have no gradient.
          const auto first = [&](const Tensor& t, int axis) { return t.defined() ? t.narrow(axis, 0, k) : t; };
          return Gradients{svd_gradient(first(dy[0], -1), dy[1], first(dy[2], -2), first(u.get(), -1), s.get(),
                                        first(vh.get(), -2))};
        };
  });
  return {recorded[0], recorded[1], recorded[2]};
}

Tensor svdvals(const Tensor& x) {
  if (x.defined() && autograd::observed({x})) return svd(x, false).s;
  return ops::svdvals(x);
}

}  // namespace crisol
