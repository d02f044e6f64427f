#include "crisol/functions/linalg.h"

#include "autograd/call.h"
#include "crisol/functions/bitwise.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/reduce.h"
#include "crisol/functions/triangle.h"
#include "crisol/grad_mode.h"
#include "ops/check.h"
#include "ops/collapse.h"
#include "ops/decompose/check.h"
#include "ops/product/leading_axes.h"

namespace crisol {

using autograd::call;
using autograd::Gradients;
using autograd::Needs;
using autograd::Saved;
using autograd::SavedResult;
using autograd::unnoted;
using ops::require_square;

namespace {

/// Exchanges positions 0 and other[b] along an axis of matrix b. x is (B, m, m).
Tensor with_first(const Tensor& x, int axis, const Tensor& other) {
  Shape line{1, 1, 1};
  line[axis] = x.size(axis);
  const Tensor place = arange(0, static_cast<double>(x.size(axis)), 1, DType::i64, x.device()).reshape(line);
  const Tensor chosen = other.reshape({other.numel(), 1, 1});
  const Tensor from = where(place.eq(0), chosen, where(place.eq(chosen), 0, place));
  return gather(x, axis, from.expand(x.shape()));
}

Shape leading(const Tensor& x) { return ops::leading_axes(x.shape()); }

/// The type in which matrices are decomposed: f32, or f64 for f64.
DType computed(const Tensor& x) { return promote_types(x.dtype(), DType::f32); }

/// x as (B, rows, columns) of the computed type.
Tensor as_batch(const Tensor& x) { return x.to(computed(x)).reshape({leading(x).numel(), x.size(-2), x.size(-1)}); }

/// Calls take(pivot) n times, where `pivot` (B) is the next pivot of each matrix. The product of a matrix's pivots is
/// its determinant. Each pivot is the largest element of the rest of the matrix, so only the last pivots of a singular
/// matrix are 0. The gradient of the last pivot is the product of the other pivots.
template <class Take>
void eliminate(const Tensor& x, const Take& take) {
  Tensor rest = as_batch(x);
  const std::int64_t count = rest.size(0);
  for (std::int64_t m = x.size(-1); m > 0; --m) {
    const Tensor largest = argmax(abs(rest.detach()).reshape({count, m * m}), {1});
    const Tensor row = trunc_divide(largest, m), column = remainder(largest, m);
    rest = with_first(with_first(rest, 1, row), 2, column);
    const Tensor pivot = rest[{Slice(), Slice({}, 1), Slice({}, 1)}];
    const Tensor signed_pivot = pivot.reshape({count});
    take(where(logical_xor(row, column), -signed_pivot, signed_pivot));
    const Tensor right = rest[{Slice(), Slice({}, 1), Slice(1)}], below = rest[{Slice(), Slice(1), Slice({}, 1)}];
    rest = rest[{Slice(), Slice(1), Slice(1)}] - below * (right / where(pivot.eq(0), 1.0, pivot));
  }
}

/// The solution of a x = b for a (B, n, n) and b (B, n, k), not recorded. The method is Gauss-Jordan elimination: in
/// each step the largest element of the column becomes the pivot, and the column becomes 0 in all other rows.
Tensor solved(const Tensor& a, const Tensor& b) {
  const NoGrad unrecorded;
  const std::int64_t n = a.size(1);
  Tensor rest = cat({a, b}, 2);
  std::vector<Tensor> rows;
  for (std::int64_t step = 0; step < n; ++step) {
    // `rest` has the rows that had no pivot yet. Columns that are done are already removed from it.
    const Tensor row = argmax(abs(rest.narrow(2, 0, 1)).reshape({a.size(0), n - step}), {1});
    rest = with_first(rest, 1, row);
    const Tensor pivot_row = rest.narrow(1, 0, 1) / rest[{Slice(), Slice({}, 1), Slice({}, 1)}];
    const Tensor right = pivot_row.narrow(2, 1, pivot_row.size(2) - 1);
    const auto without = [&](const Tensor& others) {
      return others.narrow(2, 1, others.size(2) - 1) - others.narrow(2, 0, 1) * right;
    };
    for (Tensor& done : rows) done = without(done);
    rest = without(rest.narrow(1, 1, n - step - 1));
    rows.push_back(right);
  }
  return rows.empty() ? b.clone() : cat(rows, 1);
}

/// Cholesky's L with x = L L^T for x (B, n, n), not recorded, column by column.
Tensor factor(const Tensor& x) {
  const NoGrad unrecorded;
  const std::int64_t n = x.size(1);
  Tensor l = zeros(x.shape(), x.dtype(), x.device());
  for (std::int64_t j = 0; j < n; ++j) {
    Tensor column = x[{Slice(), Slice(j), Slice(j, j + 1)}];
    if (j > 0)
      column = column - matmul(l[{Slice(), Slice(j), Slice({}, j)}],
                               matrix_transpose(l[{Slice(), Slice(j, j + 1), Slice({}, j)}]));
    l[{Slice(), Slice(j), Slice(j, j + 1)}] = column / sqrt(column.narrow(1, 0, 1));
  }
  return l;
}

}  // namespace

Tensor det(const Tensor& x) {
  require_square("det", x);
  Tensor result = ones({leading(x).numel()}, computed(x), x.device());
  eliminate(x, [&](const Tensor& pivot) { result = result * pivot; });
  return result.reshape(leading(x)).to(x.dtype());
}

SlogdetResult slogdet(const Tensor& x) {
  constexpr const char* op = "slogdet";
  require_square(op, x);
  Tensor signs = ones({leading(x).numel()}, computed(x), x.device()), logs = zeros_like(signs);
  {
    const NoGrad unrecorded;
    eliminate(x, [&](const Tensor& pivot) {
      signs = signs * sign(pivot);
      logs = logs + log(abs(pivot));
    });
  }
  const Tensor result = signs.reshape(leading(x)).to(x.dtype()), y = logs.reshape(leading(x)).to(x.dtype());
  const Tensor recorded = call(op, {x}, y, unnoted, [&] {
    return [x = Saved(x)](const Tensor& dy) { return matrix_transpose(inv(x.get())) * dy.unsqueeze(-1).unsqueeze(-1); };
  });
  return {result, recorded};
}

Tensor solve(const Tensor& a, const Tensor& b) {
  constexpr const char* op = "solve";
  require_square(op, a);
  require(b.defined(), op, "the right side is undefined");
  ops::require_dtype(op, "the right side", b, a.dtype());
  ops::require_device(op, "the matrices", a, "the right side", b);
  if (b.dim() == 1) return solve(a, b.unsqueeze(1)).squeeze(-1);
  require(b.dim() >= 2 && b.size(-2) == a.size(-1), op, "the right side must be (…, ", a.size(-1), ", k) or (",
          a.size(-1), "), its shape is ", b.shape());
  const Shape joint = ops::broadcast_shape(op, leading(a), leading(b));
  const auto expanded = [&](const Tensor& x) {
    Shape shape = joint;
    shape.push_back(x.size(-2));
    shape.push_back(x.size(-1));
    return x.expand(shape);
  };
  const Tensor left = expanded(a), right = expanded(b);
  if (left.shape() != a.shape() || right.shape() != b.shape()) return solve(left, right);
  return call(op, {a, b}, solved(as_batch(a.detach()), as_batch(b.detach())).reshape(b.shape()).to(b.dtype()), unnoted,
              [&](const Tensor& y) {
                return [a = Saved(a), y = SavedResult(y)](const Tensor& dy, Needs needs) {
                  const Tensor db = solve(matrix_transpose(a.get()), dy);
                  return Gradients{needs[0] ? -matmul(db, matrix_transpose(y.get())) : Tensor(), db};
                };
              });
}

Tensor inv(const Tensor& x) {
  require_square("inv", x);
  return solve(x, eye(x.size(-1), {}, x.dtype(), x.device()));
}

Tensor cholesky(const Tensor& x, bool upper) {
  constexpr const char* op = "cholesky";
  require_square(op, x);
  // The gradient is L^-T P L^-1, made symmetric. P is the lower triangle of L^T dy with half the diagonal.
  const Tensor y =
      call(op, {x}, factor(as_batch(x.detach())).reshape(x.shape()).to(x.dtype()), unnoted, [](const Tensor& result) {
        return [y = SavedResult(result)](const Tensor& dy) {
          const Tensor l = y.get(), transposed = matrix_transpose(l), product = matmul(transposed, tril(dy));
          const Tensor half = (tril(product) + tril(product, -1)) * 0.5;
          const Tensor right = solve(transposed, matrix_transpose(solve(transposed, half)));
          return (right + matrix_transpose(right)) * 0.5;
        };
      });
  return upper ? matrix_transpose(y) : y;
}

}  // namespace crisol
