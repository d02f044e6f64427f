#include "crisol/functions/reduce.h"

#include "autograd/node.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/elementwise.h"
#include "crisol/ops/reduce.h"
#include "functions/gradients.h"
#include "functions/reduce/reduce_gradients.h"
#include "functions/traced/traced.h"

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
  const Tensor y = ops::sum(x, axes, keepdim);
  if (Recorder* r = recorder()) traced::reduce(*r, "ReduceSum", x, axes, keepdim, y);
  return record("sum", y, x,
                [shape = x.shape(), axes](const Tensor& dy) { return autograd::sum_backward(dy, shape, axes); });
}

Tensor mean(const Tensor& x, const Shape& axes, bool keepdim) {
  const Tensor y = ops::mean(x, axes, keepdim);
  if (Recorder* r = recorder()) traced::reduce(*r, "ReduceMean", x, axes, keepdim, y);
  return record("mean", y, x,
                [shape = x.shape(), axes](const Tensor& dy) { return autograd::mean_backward(dy, shape, axes); });
}

Tensor prod(const Tensor& x, const Shape& axes, bool keepdim) {
  const Tensor y = ops::prod(x, axes, keepdim);
  if (Recorder* r = recorder()) traced::reduce(*r, "ReduceProd", x, axes, keepdim, y);
  return record("prod", y, x,
                [x = Saved(x), axes](const Tensor& dy) { return autograd::prod_backward(dy, x.get(), axes); });
}

Tensor max(const Tensor& x, const Shape& axes, bool keepdim) {
  const Tensor y = ops::max(x, axes, keepdim);
  if (Recorder* r = recorder()) traced::reduce(*r, "ReduceMax", x, axes, keepdim, y);
  return record_extreme("max", x, y, axes);
}

Tensor min(const Tensor& x, const Shape& axes, bool keepdim) {
  const Tensor y = ops::min(x, axes, keepdim);
  if (Recorder* r = recorder()) traced::reduce(*r, "ReduceMin", x, axes, keepdim, y);
  return record_extreme("min", x, y, axes);
}

ExtremeResult max_with_indices(const Tensor& x, int axis, bool keepdim) {
  const ExtremeResult result = ops::max_with_indices(x, axis, keepdim);
  if (Recorder* r = recorder()) {
    traced::reduce(*r, "ReduceMax", x, {axis}, keepdim, result.values);
    traced::extreme_place(*r, "ArgMax", x, {axis}, keepdim, result.indices);
  }
  return record_indexed("max_with_indices", x, result, axis);
}

ExtremeResult min_with_indices(const Tensor& x, int axis, bool keepdim) {
  const ExtremeResult result = ops::min_with_indices(x, axis, keepdim);
  if (Recorder* r = recorder()) {
    traced::reduce(*r, "ReduceMin", x, {axis}, keepdim, result.values);
    traced::extreme_place(*r, "ArgMin", x, {axis}, keepdim, result.indices);
  }
  return record_indexed("min_with_indices", x, result, axis);
}

Tensor var(const Tensor& x, const Shape& axes, bool keepdim, double correction) {
  const Tensor y = ops::var(x, axes, keepdim, correction);
  if (Recorder* r = recorder()) traced::variance(*r, x, axes, keepdim, correction, false, y);
  return record("var", y, x, [x = Saved(x), axes, correction](const Tensor& dy) {
    return autograd::var_backward(dy, x.get(), axes, correction);
  });
}

Tensor stddev(const Tensor& x, const Shape& axes, bool keepdim, double correction) {
  const Tensor y = ops::stddev(x, axes, keepdim, correction);
  if (Recorder* r = recorder()) traced::variance(*r, x, axes, keepdim, correction, true, y);
  return record("stddev", y, x, [x = Saved(x), y = SavedResult(y), axes, correction](const Tensor& dy) {
    return autograd::stddev_backward(dy, x.get(), y.get(), axes, correction);
  });
}

Tensor norm(const Tensor& x, double p, const Shape& axes, bool keepdim) {
  const Tensor y = ops::norm(x, p, axes, keepdim);
  if (Recorder* r = recorder(); r != nullptr && (p == 1 || p == 2))
    traced::reduce(*r, p == 1 ? "ReduceL1" : "ReduceL2", x, axes, keepdim, y);
  return record("norm", y, x, [x = Saved(x), y = SavedResult(y), p, axes](const Tensor& dy) {
    return autograd::norm_backward(dy, x.get(), y.get(), p, axes);
  });
}

Tensor logsumexp(const Tensor& x, const Shape& axes, bool keepdim) {
  const Tensor y = ops::logsumexp(x, axes, keepdim);
  if (Recorder* r = recorder()) traced::reduce(*r, "ReduceLogSumExp", x, axes, keepdim, y);
  return record("logsumexp", y, x, [x = Saved(x), y = SavedResult(y), axes](const Tensor& dy) {
    return autograd::logsumexp_backward(dy, x.get(), y.get(), axes);
  });
}

Tensor cumsum(const Tensor& x, int axis) {
  const Tensor y = ops::cumsum(x, axis);
  if (Recorder* r = recorder()) {
    const Recorder::Value value = traced::cast(*r, r->of(x), x.dtype(), y.dtype());
    r->bind(y, r->node("CumSum", {value, r->number(axis, DType::i64, x.device())}));
  }
  return record("cumsum", y, x, [axis](const Tensor& dy) { return autograd::cumsum_backward(dy, axis); });
}

namespace {

// cumprod, made of differentiable functions, for gradients of gradients.
Tensor composed_cumprod(const Tensor& x, int axis) {
  if (x.dim() == 0 || x.size(axis) == 0) return x * 1;
  std::vector<Tensor> products{x.narrow(axis, 0, 1)};
  for (std::int64_t i = 1; i < x.size(axis); ++i) products.push_back(products.back() * x.narrow(axis, i, 1));
  return cat(products, axis);
}

}  // namespace

Tensor cumprod(const Tensor& x, int axis) {
  const Tensor y = ops::cumprod(x, axis);
  if (!is_floating(y.dtype()) || !autograd::recording(x)) return y;
  return autograd::record_higher("cumprod", y, {x},
                                 [x = Saved(x), y = SavedResult(y), axis](const Tensor& dy, Needs needs) {
                                   if (!grad_enabled())
                                     return Gradients{ops::cumprod_backward(dy, x.get(), y.get(), axis)};
                                   const auto composed = [axis](const std::vector<Tensor>& in) {
                                     return Gradients{composed_cumprod(in[0], axis)};
                                   };
                                   return autograd::gradients_of(composed, {x.get()}, {dy}, needs);
                                 });
}

Tensor argmax(const Tensor& x, const Shape& axes, bool keepdim) {
  const Tensor y = ops::argmax(x, axes, keepdim);
  if (Recorder* r = recorder()) traced::extreme_place(*r, "ArgMax", x, axes, keepdim, y);
  return y;
}

Tensor argmin(const Tensor& x, const Shape& axes, bool keepdim) {
  const Tensor y = ops::argmin(x, axes, keepdim);
  if (Recorder* r = recorder()) traced::extreme_place(*r, "ArgMin", x, axes, keepdim, y);
  return y;
}

Tensor any(const Tensor& x, const Shape& axes, bool keepdim) {
  const Tensor y = ops::any(x, axes, keepdim);
  if (Recorder* r = recorder()) traced::truth(*r, false, x, axes, keepdim, y);
  return y;
}

Tensor all(const Tensor& x, const Shape& axes, bool keepdim) {
  const Tensor y = ops::all(x, axes, keepdim);
  if (Recorder* r = recorder()) traced::truth(*r, true, x, axes, keepdim, y);
  return y;
}

}  // namespace crisol
