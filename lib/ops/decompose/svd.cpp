// Singular values by one-sided Jacobi rotations: cl_kernels/decompose/jacobi.cl.
#include <algorithm>

#include "crisol/ops/cat.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/decompose.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/matmul.h"
#include "crisol/ops/reduce.h"
#include "crisol/ops/sort.h"
#include "crisol/ops/triangle.h"
#include "crisol/ops/view.h"
#include "ops/decompose/check.h"
#include "ops/decompose/householder.h"
#include "ops/decompose/jacobi.h"
#include "ops/result.h"

namespace crisol::ops {

namespace {

/// Singular values (batch, n), and the columns of U and V as rows. u and v are undefined if only values are
/// wanted.
struct Factors {
  Tensor u, s, v;
};

enum class Vectors { none, reduced, full };

Reflections reflections_of(const MatrixRows& rows) {
  const Target target = dispatch::target_of(state_of(rows.x));
  return reflect(rows, sharing_of(target, rows.x.dtype(), rows.batch(), rows.count(), rows.length()));
}

/// `count` orthonormal rows. The first ones are `rows`, but rows of zeros are replaced.
Tensor completed(const Tensor& rows, std::int64_t count) {
  // Q has the same rows, perhaps with other signs.
  const Tensor q = columns_of(reflections_of(load_rows(rows, false)), count);
  const std::int64_t known = rows.size(1);
  const Tensor first = narrow(q, 1, 0, known), products = sum(mul(first, rows), {2}, true);
  const Tensor mirrored = mul(first, where(lt(products, 0), -1, 1));
  return known == count ? mirrored : cat({mirrored, narrow(q, 1, known, count - known)}, 1);
}

/// The factors of matrices whose columns are stored as rows in `columns` (batch, n, m), for n <= m.
Factors factors_of(const Tensor& columns, Vectors vectors) {
  const std::int64_t n = columns.size(1), m = columns.size(2), wanted = vectors == Vectors::full ? m : n;
  const MatrixRows rows = load_rows(columns, vectors != Vectors::none && m <= 2 * n);
  const Tensor scales = reshape(rows.scales, {rows.batch(), 1});
  if (m > 2 * n) {
    // For a tall matrix, computes the factors of R, which is smaller.
    const Reflections made = reflections_of(rows);
    const Factors of_r = factors_of(contiguous(tril(narrow(rows.x, 2, 0, n))),
                                    vectors == Vectors::none ? Vectors::none : Vectors::reduced);
    const Tensor s = mul(of_r.s, scales);
    if (vectors == Vectors::none) return {Tensor(), s, Tensor()};
    const Tensor q = columns_of(made, wanted), u = matmul(of_r.u, narrow(q, 1, 0, n));
    return {wanted == n ? u : cat({u, narrow(q, 1, n, wanted - n)}, 1), s, of_r.v};
  }
  const SortResult sorted = sort(rotate_rows(rows, false, sharing_of_pairs(rows)), -1, true);
  if (vectors == Vectors::none) return {Tensor(), sorted.values, Tensor()};
  const Tensor u = in_order(narrow(rows.x, 2, 0, m), sorted.indices);
  return {completed(u, wanted), sorted.values, in_order(narrow(rows.x, 2, rows.start(), n), sorted.indices)};
}

}  // namespace

SvdResult svd(const Tensor& x, bool full_matrices) {
  require_matrices("svd", x);
  const std::int64_t m = x.size(-2), n = x.size(-1), k = std::min(m, n);
  const bool wide = m < n;
  const Tensor columns = batch_of(x, !wide);
  if (x.numel() == 0) {
    const std::int64_t batch = columns.size(0), of_u = full_matrices ? m : k, of_v = full_matrices ? n : k;
    return {like_batch(expand(eye(m, of_u, columns.dtype(), x.device()), {batch, m, of_u}), x),
            like_batch(zeros({batch, k}, columns.dtype(), x.device()), x),
            like_batch(expand(eye(of_v, n, columns.dtype(), x.device()), {batch, of_v, n}), x)};
  }
  // A wide matrix is transposed, and then U and V are exchanged.
  const Factors found = factors_of(columns, full_matrices ? Vectors::full : Vectors::reduced);
  return {like_batch(transpose(wide ? found.v : found.u, 1, 2), x), like_batch(found.s, x),
          like_batch(wide ? found.u : found.v, x)};
}

Tensor svdvals(const Tensor& x) {
  require_matrices("svdvals", x);
  const std::int64_t k = std::min(x.size(-2), x.size(-1));
  const Tensor columns = batch_of(x, x.size(-2) >= x.size(-1));
  if (x.numel() == 0) return like_batch(zeros({columns.size(0), k}, columns.dtype(), x.device()), x);
  return like_batch(factors_of(columns, Vectors::none).s, x);
}

void svd_into(const Tensor& u, const Tensor& s, const Tensor& vh, const Tensor& x, bool full_matrices) {
  deliver("svd", {&u, &s, &vh}, {&x}, [&] {
    const SvdResult made = svd(x, full_matrices);
    return std::array{made.u, made.s, made.vh};
  });
}

void svdvals_into(const Tensor& s, const Tensor& x) {
  deliver("svdvals", {&s}, {&x}, [&] { return std::array{svdvals(x)}; });
}

}  // namespace crisol::ops
