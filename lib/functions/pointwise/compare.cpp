#include "crisol/functions/compare.h"

#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/reduce.h"
#include "ops/index/indexing.h"

namespace crisol {

Tensor isclose(const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan) {
  constexpr const char* op = "isclose";
  require(a.defined() && b.defined(), op, "a tensor is undefined");
  require(a.dtype() == b.dtype(), op, "the tensors hold ", a.dtype(), " and ", b.dtype(), "; convert with to(dtype)");
  require(rtol >= 0 && atol >= 0, op, "rtol ", rtol, " and atol ", atol, " must not be negative");
  Tensor close = ops::eq(a, b);
  if (is_floating(a.dtype()) && equal_nan)
    close = ops::logical_or(close, ops::logical_and(ops::isnan(a), ops::isnan(b)));
  if (rtol == 0 && atol == 0) return close;
  const DType real = is_floating(a.dtype()) ? value_type(a.dtype()) : DType::f32;
  // The larger number minus the smaller one has no overflow as a number without a sign.
  const Tensor difference =
      is_floating(a.dtype())
          ? ops::sub(ops::cast(a, real), ops::cast(b, real))
          : ops::cast(ops::sub(ops::cast(ops::maximum(a, b), DType::u64), ops::cast(ops::minimum(a, b), DType::u64)),
                      real);
  const Tensor allowed = ops::add(ops::mul(ops::abs(ops::cast(b, real)), rtol), atol);
  // An infinity is close only to itself, although its tolerance is infinite and every distance is below it.
  const Tensor within = ops::logical_and(ops::le(ops::abs(difference), allowed), ops::isfinite(allowed));
  return ops::logical_or(close, within);
}

void check_range(std::string_view op, const Tensor& x, double low, double high) { ops::check_range(op, x, low, high); }

bool allclose(const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan) {
  return ops::all(isclose(a, b, rtol, atol, equal_nan)).item<int>() != 0;
}

}  // namespace crisol
