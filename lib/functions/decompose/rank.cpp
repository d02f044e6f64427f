// Functions of matrices that use singular values: pinv, matrix_rank, matrix_norm. And matrix_power.
#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/call.h"
#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/functions/compare.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/linalg.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/reduce.h"
#include "crisol/functions/select.h"
#include "crisol/grad_mode.h"
#include "ops/decompose/check.h"
#include "ops/numbers.h"

namespace crisol {

using autograd::call;
using autograd::Saved;
using autograd::SavedResult;
using autograd::unnoted;

namespace {

/// Whether each singular value in s (…, k) of x counts as more than zero: s > rtol max s. If rtol is undefined, it is
/// max(m, n) epsilon.
Tensor counted(const char* op, const Tensor& x, const Tensor& s, const Tensor& rtol) {
  if (s.numel() == 0) return s.gt(0);
  const Tensor largest = max(s, {-1}, true);
  if (!rtol.defined()) {
    const double epsilon = epsilon_of(x.dtype());
    return s.gt(largest * (epsilon * static_cast<double>(std::max(x.size(-2), x.size(-1)))));
  }
  require(is_floating(rtol.dtype()), op, "rtol must be ", TypesThat{is_floating}, ", it is ", rtol.dtype());
  return s.gt(largest * rtol.unsqueeze(-1));
}

Tensor as_rtol(const Tensor& x, double rtol) {
  return full({}, rtol, promote_types(x.dtype(), DType::f32), x.device());
}

}  // namespace

Tensor pinv(const Tensor& x, const Tensor& rtol) {
  constexpr const char* op = "pinv";
  ops::require_matrices(op, x);
  if (x.size(-2) > x.size(-1)) return matrix_transpose(pinv(matrix_transpose(x), rtol));
  Tensor y;
  {
    const NoGrad unrecorded;
    const SvdResult f = svd(x, false);
    const Tensor inverse = where(counted(op, x, f.s, rtol), 1 / f.s, where(f.s.eq(f.s), 0.0, f.s));
    y = matmul(matrix_transpose(f.vh) * inverse.unsqueeze(-2), matrix_transpose(f.u)).to(x.dtype());
  }
  // The formula holds if matrices near x have the same rank as x. Source: Golub and Pereyra, 1973, (4.12).
  return call(op, {x}, y, unnoted, [&] {
    return [x = Saved(x), y = SavedResult(y)](const Tensor& dy) {
      const Tensor& a = x.get();
      const Tensor p = y.get(), transposed = matrix_transpose(p);
      const Tensor d = matrix_transpose(dy), k = matmul(d, p), right = matmul(k, transposed);
      return right - matrix_transpose(matmul(p, k)) - matmul(matmul(a, p), right) +
             matmul(matmul(transposed, p), d - matmul(k, a));
    };
  });
}

Tensor pinv(const Tensor& x, double rtol) {
  ops::require_matrices("pinv", x);
  return pinv(x, as_rtol(x, rtol));
}

Tensor matrix_rank(const Tensor& x, const Tensor& rtol) {
  constexpr const char* op = "matrix_rank";
  ops::require_matrices(op, x);
  const NoGrad unrecorded;
  return sum(counted(op, x, svdvals(x), rtol).to(DType::i64), {-1});
}

Tensor matrix_rank(const Tensor& x, double rtol) {
  ops::require_matrices("matrix_rank", x);
  return matrix_rank(x, as_rtol(x, rtol));
}

Tensor matrix_norm(const Tensor& x, std::string_view ord, bool keepdim) {
  constexpr const char* op = "matrix_norm";
  ops::require_matrices(op, x);
  if (ord == "fro") return norm(x, 2, {-2, -1}, keepdim);
  require(ord == "nuc", op, "ord is \"", ord,
          "\", allowed are \"fro\", \"nuc\" and the numbers 1, 2, infinity, -1, -2, ", "-infinity");
  const Tensor y = sum(svdvals(x), {-1}, keepdim);
  return keepdim ? y.unsqueeze(-1) : y;
}

Tensor matrix_norm(const Tensor& x, double ord, bool keepdim) {
  constexpr const char* op = "matrix_norm";
  ops::require_matrices(op, x);
  const double kind = std::abs(ord);
  require(kind == 1 || kind == 2 || std::isinf(kind), op, "ord is ", ord,
          ", allowed are 1, 2, infinity, -1, -2, -infinity, \"fro\" and \"nuc\"");
  const auto extreme = [&](const Tensor& t, int axis) {
    return ord > 0 ? max(t, {axis}, keepdim) : min(t, {axis}, keepdim);
  };
  if (kind == 1) return extreme(sum(abs(x), {-2}, keepdim), -1);
  if (kind != 2) return extreme(sum(abs(x), {-1}, keepdim), keepdim ? -2 : -1);
  const Tensor y = extreme(svdvals(x), -1);
  return keepdim ? y.unsqueeze(-1) : y;
}

Tensor matrix_power(const Tensor& x, std::int64_t n) {
  ops::require_square_shape("matrix_power", x);
  ops::require_numbers("matrix_power", x.dtype());
  if (n < 0) {
    require(n != std::numeric_limits<std::int64_t>::min(), "matrix_power", "the power is ", n);
    return matrix_power(inv(x), -n);
  }
  if (n == 0) return eye(x.size(-1), {}, x.dtype(), x.device()).expand(x.shape()).clone();
  // Squares repeatedly. The result is the product of the squares for which the binary digit of n is 1.
  Tensor square = x, product;
  for (;; square = matmul(square, square)) {
    if (n % 2 == 1) product = product.defined() ? matmul(product, square) : square;
    n /= 2;
    if (n == 0) return product;
  }
}

}  // namespace crisol
