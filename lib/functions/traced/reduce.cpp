// The nodes of reductions over axes.
#include <algorithm>

#include "functions/traced/traced.h"
#include "ops/reduce/reduce_axes.h"

namespace crisol::traced {

namespace {

Value reduced(Trace& trace, Op op, Value x, const Shape& axes, bool keepdim) {
  return trace.node(op, {x},
                    {{"axes", std::vector<std::int64_t>(axes.begin(), axes.end())}, {"keepdim", keepdim ? 1 : 0}});
}

}  // namespace

void reduce(Trace& trace, Op op, const Tensor& x, const Shape& axes, bool keepdim, const Tensor& y) {
  const Value value = cast(trace, trace.of(x), x.dtype(), y.dtype());
  trace.bind(y, x.dim() == 0 ? value : reduced(trace, op, value, axes, keepdim));
}

void extreme_place(Trace& trace, Op op, const Tensor& x, const Shape& axes, bool keepdim, const Tensor& y) {
  if (axes.rank() == 1) return trace.note(op, {x}, y, {{"axis", axes[0]}, {"keepdim", keepdim ? 1 : 0}});
  // The axes go to the end, and become one axis there.
  const unsigned mask = ops::reduced_axes("argmax", x.dim(), axes);
  Shape kept, taken;
  std::int64_t count = 1;
  for (int i = 0; i < x.dim(); ++i) {
    const bool is_taken = (mask >> i & 1) != 0;
    (is_taken ? taken : kept).push_back(i);
    if (is_taken) count *= x.size(i);
  }
  std::vector<std::int64_t> order(kept.begin(), kept.end()), sizes;
  order.insert(order.end(), taken.begin(), taken.end());
  for (const std::int64_t axis : kept) sizes.push_back(x.size(static_cast<int>(axis)));
  sizes.push_back(count);
  const Value moved = kept.empty() ? trace.of(x) : trace.node(Op::permute, {trace.of(x)}, {{"axes", order}});
  const Value rows = trace.node(Op::reshape, {moved, trace.numbers(sizes)});
  const Value places = trace.node(op, {rows}, {{"axis", kept.rank()}, {"keepdim", 0}});
  trace.bind(y,
             keepdim ? trace.node(Op::reshape, {places, trace.numbers({y.shape().begin(), y.shape().end()})}) : places);
}

void truth(Trace& trace, bool every, const Tensor& x, const Shape& axes, bool keepdim, const Tensor& y) {
  const Value ones = cast(trace, cast(trace, trace.of(x), x.dtype(), DType::boolean), DType::boolean, DType::i32);
  const Value value = x.dim() == 0 ? ones : reduced(trace, every ? Op::min : Op::max, ones, axes, keepdim);
  trace.bind(y, cast(trace, value, DType::i32, DType::boolean));
}

void variance(Trace& trace, const Tensor& x, const Shape& axes, bool keepdim, double correction, bool root,
              const Tensor& y) {
  const Value mean = reduced(trace, Op::mean, trace.of(x), axes, true);
  const Value difference = elements(trace, ops::rows::sub, {trace.of(x), mean});
  Value value = reduced(trace, Op::mean, elements(trace, ops::rows::mul, {difference, difference}), axes, keepdim);
  if (correction != 0) {
    double count = 1;
    const unsigned taken = ops::reduced_axes("var", x.dim(), axes);
    for (int i = 0; i < x.dim(); ++i)
      if ((taken >> i & 1) != 0) count *= static_cast<double>(x.size(i));
    const double factor = count / std::max(0.0, count - correction);
    value = elements(trace, ops::rows::mul, {value, trace.number(factor, x.dtype(), x.device())});
  }
  trace.bind(y, root ? elements(trace, ops::rows::sqrt, {value}) : value);
}

}  // namespace crisol::traced
