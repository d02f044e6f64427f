#include "crisol/functions/reduce.h"

#include "autograd/node.h"
#include "crisol/ops/reduce.h"
#include "functions/gradients.h"
#include "functions/reduce_gradients.h"

namespace crisol {

using autograd::Gradients;
using autograd::Needs;
using autograd::Saved;
using autograd::SavedResult;

namespace {

/// Records y = f(x) if a gradient is wanted. `backward(dy)` returns the gradient of x.
template <class Backward>
Tensor record(const char* op, const Tensor& y, const Tensor& x, Backward backward) {
  if (!is_floating(y.dtype()) || !autograd::recording(x)) return y;
  return autograd::record_higher(
      op, y, {x}, [backward = std::move(backward)](const Tensor& dy, Needs) { return Gradients{backward(dy)}; });
}

Tensor record_extreme(const char* op, const Tensor& x, const Tensor& y, const Shape& axes) {
  return record(op, y, x, [x = Saved(x), y = SavedResult(y), axes](const Tensor& dy) {
    return autograd::max_backward(dy, x.get(), y.get(), axes);
  });
}

ExtremeResult record_indexed(const char* op, const Tensor& x, const ExtremeResult& result, int axis) {
  const auto backward = [shape = x.shape(), indices = Saved(result.indices), axis](const Tensor& dy) {
    return autograd::max_with_indices_backward(dy, indices.get(), shape, axis);
  };
  return {record(op, result.values, x, backward), result.indices};
}

}  // namespace

Tensor sum(const Tensor& x, const Shape& axes, bool keepdim) {
  return record("sum", ops::sum(x, axes, keepdim), x,
                [shape = x.shape(), axes](const Tensor& dy) { return autograd::sum_backward(dy, shape, axes); });
}

Tensor mean(const Tensor& x, const Shape& axes, bool keepdim) {
  return record("mean", ops::mean(x, axes, keepdim), x,
                [shape = x.shape(), axes](const Tensor& dy) { return autograd::mean_backward(dy, shape, axes); });
}

Tensor prod(const Tensor& x, const Shape& axes, bool keepdim) {
  return record("prod", ops::prod(x, axes, keepdim), x,
                [x = Saved(x), axes](const Tensor& dy) { return autograd::prod_backward(dy, x.get(), axes); });
}

Tensor max(const Tensor& x, const Shape& axes, bool keepdim) {
  return record_extreme("max", x, ops::max(x, axes, keepdim), axes);
}

Tensor min(const Tensor& x, const Shape& axes, bool keepdim) {
  return record_extreme("min", x, ops::min(x, axes, keepdim), axes);
}

ExtremeResult max_with_indices(const Tensor& x, int axis, bool keepdim) {
  return record_indexed("max_with_indices", x, ops::max_with_indices(x, axis, keepdim), axis);
}

ExtremeResult min_with_indices(const Tensor& x, int axis, bool keepdim) {
  return record_indexed("min_with_indices", x, ops::min_with_indices(x, axis, keepdim), axis);
}

Tensor var(const Tensor& x, const Shape& axes, bool keepdim, double correction) {
  return record("var", ops::var(x, axes, keepdim, correction), x, [x = Saved(x), axes, correction](const Tensor& dy) {
    return autograd::var_backward(dy, x.get(), axes, correction);
  });
}

Tensor stddev(const Tensor& x, const Shape& axes, bool keepdim, double correction) {
  const Tensor y = ops::stddev(x, axes, keepdim, correction);
  return record("stddev", y, x, [x = Saved(x), y = SavedResult(y), axes, correction](const Tensor& dy) {
    return autograd::stddev_backward(dy, x.get(), y.get(), axes, correction);
  });
}

Tensor norm(const Tensor& x, double p, const Shape& axes, bool keepdim) {
  const Tensor y = ops::norm(x, p, axes, keepdim);
  return record("norm", y, x, [x = Saved(x), y = SavedResult(y), p, axes](const Tensor& dy) {
    return autograd::norm_backward(dy, x.get(), y.get(), p, axes);
  });
}

Tensor logsumexp(const Tensor& x, const Shape& axes, bool keepdim) {
  const Tensor y = ops::logsumexp(x, axes, keepdim);
  return record("logsumexp", y, x, [x = Saved(x), y = SavedResult(y), axes](const Tensor& dy) {
    return autograd::logsumexp_backward(dy, x.get(), y.get(), axes);
  });
}

Tensor cumsum(const Tensor& x, int axis) {
  return record("cumsum", ops::cumsum(x, axis), x,
                [axis](const Tensor& dy) { return autograd::cumsum_backward(dy, axis); });
}

Tensor cumprod(const Tensor& x, int axis) {
  const Tensor y = ops::cumprod(x, axis);
  if (!is_floating(y.dtype()) || !autograd::recording(x)) return y;
  return autograd::record("cumprod", y, {x}, [x = Saved(x), y = SavedResult(y), axis](const Tensor& dy, Needs) {
    return Gradients{ops::cumprod_backward(dy, x.get(), y.get(), axis)};
  });
}

Tensor argmax(const Tensor& x, const Shape& axes, bool keepdim) { return ops::argmax(x, axes, keepdim); }

Tensor argmin(const Tensor& x, const Shape& axes, bool keepdim) { return ops::argmin(x, axes, keepdim); }

Tensor any(const Tensor& x, const Shape& axes, bool keepdim) { return ops::any(x, axes, keepdim); }

Tensor all(const Tensor& x, const Shape& axes, bool keepdim) { return ops::all(x, axes, keepdim); }

}  // namespace crisol
