// The ONNX nodes of reductions over axes.
#include <algorithm>

#include "base/text.h"
#include "functions/traced/traced.h"
#include "tensor/impl.h"

namespace crisol::traced {

namespace {

/// The reduced axes as an input of a node. All axes are no input.
Value axes_value(Trace& trace, const Shape& axes) {
  return axes.empty() ? Trace::absent : trace.numbers({axes.begin(), axes.end()});
}

Value reduced(Trace& trace, Op op, Value x, const Shape& axes, bool keepdim) {
  std::vector<Value> inputs{x};
  if (!axes.empty()) inputs.push_back(axes_value(trace, axes));
  return trace.node(op, inputs, {{"keepdims", keepdim ? 1 : 0}});
}

}  // namespace

void reduce(Trace& trace, Op op, const Tensor& x, const Shape& axes, bool keepdim, const Tensor& y) {
  const Value value = cast(trace, trace.of(x), x.dtype(), y.dtype());
  trace.bind(y, x.dim() == 0 ? value : reduced(trace, op, value, axes, keepdim));
}

void extreme_place(Trace& trace, Op op, const Tensor& x, const Shape& axes, bool keepdim, const Tensor& y) {
  require(axes.rank() == 1 || (axes.empty() && !keepdim), "trace", "the place of an extreme over the axes ", axes,
          " has no form in ONNX");
  if (axes.rank() == 1) return trace.note(op, {x}, y, {{"axis", axes[0]}, {"keepdims", keepdim ? 1 : 0}});
  const Value line = trace.node(Op::reshape, {trace.of(x), trace.numbers({-1})});
  trace.bind(y, trace.node(op, {line}, {{"axis", 0}, {"keepdims", 0}}));
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
    for (int i = 0; i < x.dim(); ++i) {
      const bool taken = axes.empty() || std::any_of(axes.begin(), axes.end(), [&](std::int64_t axis) {
                           return normalized_axis("var", axis, x.dim()) == i;
                         });
      if (taken) count *= static_cast<double>(x.size(i));
    }
    const double factor = count / std::max(0.0, count - correction);
    value = elements(trace, ops::rows::mul, {value, trace.number(factor, x.dtype(), x.device())});
  }
  trace.bind(y, root ? elements(trace, ops::rows::sqrt, {value}) : value);
}

}  // namespace crisol::traced
