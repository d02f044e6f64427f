#include "crisol/functions/reduce.h"

#include <utility>

#include "autograd/autocast.h"
#include "autograd/call.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/elementwise.h"
#include "crisol/ops/reduce.h"
#include "functions/gradients.h"
#include "functions/reduce/reduce_gradients.h"
#include "functions/traced/traced.h"

namespace crisol {

using autograd::call;
using autograd::Gradients;
using autograd::Needs;
using autograd::noted;
using autograd::Saved;
using autograd::SavedResult;
using autograd::unnoted;

namespace {

Tensor extreme(const char* op, GraphOp node, Tensor result, const Tensor& x, const Shape& axes, bool keepdim) {
  return call(
      op, {x}, std::move(result),
      [&](Trace& trace, const Tensor& y) { traced::reduce(trace, node, x, axes, keepdim, y); },
      [&](const Tensor& y) {
        return [x = Saved(x), y = SavedResult(y), axes](const Tensor& dy) {
          return autograd::max_backward(dy, x.get(), y.get(), axes);
        };
      });
}

struct ExtremeNodes {
  GraphOp value, place;
};

ExtremeResult indexed_extreme(const char* op, const ExtremeNodes& nodes, const ExtremeResult& result, const Tensor& x,
                              int axis, bool keepdim) {
  const auto note = [&](Trace& trace) {
    traced::reduce(trace, nodes.value, x, {axis}, keepdim, result.values);
    traced::extreme_place(trace, nodes.place, x, {axis}, keepdim, result.indices);
  };
  const Tensor values = call(op, {x}, result.values, note, [&] {
    return [shape = x.shape(), indices = Saved(result.indices), axis](const Tensor& dy) {
      return autograd::max_with_indices_backward(dy, indices.get(), shape, axis);
    };
  });
  return {values, result.indices};
}

}  // namespace

Tensor sum(const Tensor& x, const Shape& axes, bool keepdim) {
  if (const autograd::Autocasts casts("sum"); casts) return sum(casts(x), axes, keepdim);
  return call(
      "sum", {x}, ops::sum(x, axes, keepdim),
      [&](Trace& trace, const Tensor& y) { traced::reduce(trace, GraphOp::sum, x, axes, keepdim, y); },
      [&] { return [shape = x.shape(), axes](const Tensor& dy) { return autograd::sum_backward(dy, shape, axes); }; });
}

Tensor mean(const Tensor& x, const Shape& axes, bool keepdim) {
  return call(
      "mean", {x}, ops::mean(x, axes, keepdim),
      [&](Trace& trace, const Tensor& y) { traced::reduce(trace, GraphOp::mean, x, axes, keepdim, y); },
      [&] { return [shape = x.shape(), axes](const Tensor& dy) { return autograd::mean_backward(dy, shape, axes); }; });
}

Tensor prod(const Tensor& x, const Shape& axes, bool keepdim) {
  if (const autograd::Autocasts casts("prod"); casts) return prod(casts(x), axes, keepdim);
  return call(
      "prod", {x}, ops::prod(x, axes, keepdim),
      [&](Trace& trace, const Tensor& y) { traced::reduce(trace, GraphOp::prod, x, axes, keepdim, y); },
      [&] { return [x = Saved(x), axes](const Tensor& dy) { return autograd::prod_backward(dy, x.get(), axes); }; });
}

Tensor max(const Tensor& x, const Shape& axes, bool keepdim) {
  return extreme("max", GraphOp::max, ops::max(x, axes, keepdim), x, axes, keepdim);
}

Tensor min(const Tensor& x, const Shape& axes, bool keepdim) {
  return extreme("min", GraphOp::min, ops::min(x, axes, keepdim), x, axes, keepdim);
}

ExtremeResult max_with_indices(const Tensor& x, int axis, bool keepdim) {
  return indexed_extreme("max_with_indices", {GraphOp::max, GraphOp::argmax}, ops::max_with_indices(x, axis, keepdim),
                         x, axis, keepdim);
}

ExtremeResult min_with_indices(const Tensor& x, int axis, bool keepdim) {
  return indexed_extreme("min_with_indices", {GraphOp::min, GraphOp::argmin}, ops::min_with_indices(x, axis, keepdim),
                         x, axis, keepdim);
}

Tensor var(const Tensor& x, const Shape& axes, bool keepdim, double correction) {
  return call(
      "var", {x}, ops::var(x, axes, keepdim, correction),
      [&](Trace& trace, const Tensor& y) { traced::variance(trace, x, axes, keepdim, correction, false, y); },
      [&] {
        return [x = Saved(x), axes, correction](const Tensor& dy) {
          return autograd::var_backward(dy, x.get(), axes, correction);
        };
      });
}

Tensor stddev(const Tensor& x, const Shape& axes, bool keepdim, double correction) {
  return call(
      "stddev", {x}, ops::stddev(x, axes, keepdim, correction),
      [&](Trace& trace, const Tensor& y) { traced::variance(trace, x, axes, keepdim, correction, true, y); },
      [&](const Tensor& y) {
        return [x = Saved(x), y = SavedResult(y), axes, correction](const Tensor& dy) {
          return autograd::stddev_backward(dy, x.get(), y.get(), axes, correction);
        };
      });
}

Tensor norm(const Tensor& x, double p, const Shape& axes, bool keepdim) {
  if (const autograd::Autocasts casts("norm"); casts) return norm(casts(x), p, axes, keepdim);
  return call(
      "norm", {x}, ops::norm(x, p, axes, keepdim),
      [&](Trace& trace, const Tensor& y) {
        if (p == 1 || p == 2) traced::reduce(trace, p == 1 ? GraphOp::l1_norm : GraphOp::l2_norm, x, axes, keepdim, y);
      },
      [&](const Tensor& y) {
        return [x = Saved(x), y = SavedResult(y), p, axes](const Tensor& dy) {
          return autograd::norm_backward(dy, x.get(), y.get(), p, axes);
        };
      });
}

Tensor logsumexp(const Tensor& x, const Shape& axes, bool keepdim) {
  if (const autograd::Autocasts casts("logsumexp"); casts) return logsumexp(casts(x), axes, keepdim);
  return call(
      "logsumexp", {x}, ops::logsumexp(x, axes, keepdim),
      [&](Trace& trace, const Tensor& y) { traced::reduce(trace, GraphOp::logsumexp, x, axes, keepdim, y); },
      [&](const Tensor& y) {
        return [x = Saved(x), y = SavedResult(y), axes](const Tensor& dy) {
          return autograd::logsumexp_backward(dy, x.get(), y.get(), axes);
        };
      });
}

Tensor cumsum(const Tensor& x, int axis) {
  if (const autograd::Autocasts casts("cumsum"); casts) return cumsum(casts(x), axis);
  return call(
      "cumsum", {x}, ops::cumsum(x, axis),
      [&](Trace& trace, const Tensor& y) {
        const Trace::Value value = traced::cast(trace, trace.of(x), x.dtype(), y.dtype());
        trace.bind(y, trace.node(GraphOp::cumsum, {value, trace.number(axis, DType::i64, x.device())}));
      },
      [&] { return [axis](const Tensor& dy) { return autograd::cumsum_backward(dy, axis); }; });
}

namespace {

using Combine = Tensor (*)(const Tensor& before, const Tensor& x);

// Each element combined with the result before it, made of differentiable functions. It combines in the order of the
// op: in another order a product of infinity and 0 may be NaN where the op's is not.
Tensor composed(const Tensor& x, int axis, Combine combine) {
  if (x.dim() == 0 || x.size(axis) == 0) return x * 1;
  std::vector<Tensor> results{x.narrow(axis, 0, 1)};
  for (std::int64_t i = 1; i < x.size(axis); ++i) results.push_back(combine(results.back(), x.narrow(axis, i, 1)));
  return cat(results, axis);
}

using RunningBackward = Tensor (*)(const Tensor& dy, const Tensor& x, const Tensor& y, int axis);

// Records y, the elements of x combined along an axis. No graph expresses it. `backward` has no gradient, so `combine`
// computes gradients of gradients.
Tensor running(const char* op, Tensor y, const Tensor& x, int axis, RunningBackward backward, Combine combine) {
  return call(op, {x}, std::move(y), unnoted, [&](const Tensor& y) {
    return [x = Saved(x), y = SavedResult(y), axis, backward, combine](const Tensor& dy, Needs needs) {
      const Tensor in = x.get(), out = y.get();
      return autograd::raw_or_composed(
          {dy, in}, [&] { return Gradients{backward(dy, in, out, axis)}; },
          [&] {
            const auto again = [=](const std::vector<Tensor>& inputs) {
              return Gradients{composed(inputs[0], axis, combine)};
            };
            return autograd::gradients_of(again, {in}, {dy}, needs);
          });
    };
  });
}

}  // namespace

Tensor cumprod(const Tensor& x, int axis) {
  if (const autograd::Autocasts casts("cumprod"); casts) return cumprod(casts(x), axis);
  return running("cumprod", ops::cumprod(x, axis), x, axis, ops::cumprod_backward,
                 [](const Tensor& before, const Tensor& x) { return before * x; });
}

Tensor logcumsumexp(const Tensor& x, int axis) {
  return running("logcumsumexp", ops::logcumsumexp(x, axis), x, axis, ops::logcumsumexp_backward,
                 [](const Tensor& before, const Tensor& x) { return logaddexp(before, x); });
}

Tensor argmax(const Tensor& x, const Shape& axes, bool keepdim) {
  return noted(ops::argmax(x, axes, keepdim), [&](Trace& trace, const Tensor& y) {
    traced::extreme_place(trace, GraphOp::argmax, x, axes, keepdim, y);
  });
}

Tensor argmin(const Tensor& x, const Shape& axes, bool keepdim) {
  return noted(ops::argmin(x, axes, keepdim), [&](Trace& trace, const Tensor& y) {
    traced::extreme_place(trace, GraphOp::argmin, x, axes, keepdim, y);
  });
}

Tensor any(const Tensor& x, const Shape& axes, bool keepdim) {
  return noted(ops::any(x, axes, keepdim),
               [&](Trace& trace, const Tensor& y) { traced::truth(trace, false, x, axes, keepdim, y); });
}

Tensor all(const Tensor& x, const Shape& axes, bool keepdim) {
  return noted(ops::all(x, axes, keepdim),
               [&](Trace& trace, const Tensor& y) { traced::truth(trace, true, x, axes, keepdim, y); });
}

}  // namespace crisol
