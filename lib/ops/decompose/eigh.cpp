// Eigenvalues of symmetric matrices by Jacobi's rotations: cl_kernels/decompose/jacobi.cl.
#include "crisol/ops/decompose.h"
#include "crisol/ops/sort.h"
#include "crisol/ops/view.h"
#include "ops/decompose/check.h"
#include "ops/decompose/jacobi.h"
#include "ops/result.h"

namespace crisol::ops {

EighResult eigh(const Tensor& x) {
  require_square("eigh", x);
  const Tensor matrices = batch_of(x, false);
  if (x.numel() == 0) {
    const Tensor values = zeros(Shape{matrices.size(0), matrices.size(1)}, matrices.dtype(), x.device());
    return {like_batch(values, x), like_batch(matrices, x)};
  }
  const MatrixRows rows = load_rows(matrices, true, true);
  const SortResult sorted = sort(rotate_rows(rows, true, sharing_of_pairs(rows)));
  const Tensor vectors = in_order(narrow(rows.x, 2, rows.start(), rows.count()), sorted.indices);
  return {like_batch(sorted.values, x), like_batch(transpose(vectors, 1, 2), x)};
}

void eigh_into(const Tensor& eigenvalues, const Tensor& eigenvectors, const Tensor& x) {
  deliver("eigh", {&eigenvalues, &eigenvectors}, {&x}, [&] {
    const EighResult made = eigh(x);
    return std::array{made.eigenvalues, made.eigenvectors};
  });
}

}  // namespace crisol::ops
