#include "crisol/functions/linalg.h"

#include "base/text.h"
#include "crisol/functions/bitwise.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "crisol/functions/reduce.h"

namespace crisol {

namespace {

/// Exchanges place 0 and place other[b] along an axis of matrix b; x is (B, m, m).
Tensor with_first(const Tensor& x, int axis, const Tensor& other) {
  Shape line{1, 1, 1};
  line[axis] = x.size(axis);
  const Tensor place = arange(0, static_cast<double>(x.size(axis)), 1, DType::i64, x.device()).reshape(line);
  const Tensor chosen = other.reshape({-1, 1, 1});
  const Tensor from = where(place.eq(0), chosen, where(place.eq(chosen), 0, place));
  return gather(x, axis, from.expand(x.shape()));
}

}  // namespace

Tensor det(const Tensor& x) {
  constexpr const char* op = "det";
  require(x.defined(), op, "the tensor is undefined");
  require(is_floating(x.dtype()), op, "the tensor must be f32 or f16, it is ", x.dtype());
  require(x.dim() >= 2 && x.size(-1) == x.size(-2), op, "the tensor must be (…, n, n), its shape is ", x.shape());
  const Shape matrices(x.shape().begin(), static_cast<std::size_t>(x.dim() - 2));
  const std::int64_t count = matrices.numel();
  Tensor rest = x.to(DType::f32).reshape({count, x.size(-1), x.size(-1)});
  Tensor result = ones({count}, DType::f32, x.device());
  // The largest element of the whole rest is the pivot. So only the last pivots of a singular matrix are 0, and the
  // product of the others is the gradient of the last.
  for (std::int64_t m = x.size(-1); m > 0; --m) {
    const Tensor largest = argmax(abs(rest.detach()).reshape({count, m * m}), {1});
    const Tensor row = trunc_divide(largest, m), column = remainder(largest, m);
    rest = with_first(with_first(rest, 1, row), 2, column);
    const Tensor pivot = rest[{Slice(), Slice({}, 1), Slice({}, 1)}];
    const Tensor signed_pivot = pivot.reshape({count});
    result = result * where(logical_xor(row, column), -signed_pivot, signed_pivot);
    const Tensor right = rest[{Slice(), Slice({}, 1), Slice(1)}], below = rest[{Slice(), Slice(1), Slice({}, 1)}];
    rest = rest[{Slice(), Slice(1), Slice(1)}] - below * (right / where(pivot.eq(0), 1.0, pivot));
  }
  return result.reshape(matrices).to(x.dtype());
}

}  // namespace crisol
