// The ONNX nodes of reductions over axes.
#include <algorithm>

#include "base/text.h"
#include "functions/traced/traced.h"
#include "tensor/impl.h"

namespace crisol::traced {

namespace {

/// The reduced axes as an input of a node. All axes are no input.
Value axes_value(Recorder& r, const Shape& axes) {
  return axes.empty() ? Recorder::absent : r.numbers({axes.begin(), axes.end()});
}

Value reduced(Recorder& r, Op op, Value x, const Shape& axes, bool keepdim) {
  std::vector<Value> inputs{x};
  if (!axes.empty()) inputs.push_back(axes_value(r, axes));
  return r.node(op, inputs, {{"keepdims", keepdim ? 1 : 0}});
}

}  // namespace

void reduce(Recorder& r, Op op, const Tensor& x, const Shape& axes, bool keepdim, const Tensor& y) {
  const Value value = cast(r, r.of(x), x.dtype(), y.dtype());
  r.bind(y, x.dim() == 0 ? value : reduced(r, op, value, axes, keepdim));
}

void extreme_place(Recorder& r, Op op, const Tensor& x, const Shape& axes, bool keepdim, const Tensor& y) {
  require(axes.rank() == 1 || (axes.empty() && !keepdim), "trace", "the place of an extreme over the axes ", axes,
          " has no form in ONNX");
  if (axes.rank() == 1) return r.note(op, {x}, y, {{"axis", axes[0]}, {"keepdims", keepdim ? 1 : 0}});
  const Value line = r.node(Op::reshape, {r.of(x), r.numbers({-1})});
  r.bind(y, r.node(op, {line}, {{"axis", 0}, {"keepdims", 0}}));
}

void truth(Recorder& r, bool every, const Tensor& x, const Shape& axes, bool keepdim, const Tensor& y) {
  const Value ones = cast(r, cast(r, r.of(x), x.dtype(), DType::boolean), DType::boolean, DType::i32);
  const Value value = x.dim() == 0 ? ones : reduced(r, every ? Op::min : Op::max, ones, axes, keepdim);
  r.bind(y, cast(r, value, DType::i32, DType::boolean));
}

void variance(Recorder& r, const Tensor& x, const Shape& axes, bool keepdim, double correction, bool root,
              const Tensor& y) {
  const Value mean = reduced(r, Op::mean, r.of(x), axes, true);
  const Value difference = elements(r, ops::rows::sub, {r.of(x), mean});
  Value value = reduced(r, Op::mean, elements(r, ops::rows::mul, {difference, difference}), axes, keepdim);
  if (correction != 0) {
    double count = 1;
    for (int i = 0; i < x.dim(); ++i) {
      const bool taken = axes.empty() || std::any_of(axes.begin(), axes.end(), [&](std::int64_t axis) {
                           return normalized_axis("var", axis, x.dim()) == i;
                         });
      if (taken) count *= static_cast<double>(x.size(i));
    }
    const double factor = count / std::max(0.0, count - correction);
    value = elements(r, ops::rows::mul, {value, r.number(factor, x.dtype(), x.device())});
  }
  r.bind(y, root ? elements(r, ops::rows::sqrt, {value}) : value);
}

}  // namespace crisol::traced
