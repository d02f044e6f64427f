// Running products along an axis: cl_kernels/reduce/cumprod.cl.
#include <algorithm>

#include "crisol/dtype_table.h"
#include "crisol/ops/cat.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/reduce.h"
#include "crisol/ops/view.h"
#include "dispatch/work_split.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/index/indexing.h"
#include "ops/rehearsed.h"
#include "ops/result.h"
#include "reduce/parameters.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

/// How the lines of a tensor are divided among work-items, and the positions of one launch.
struct Lines {
  Lines(const Tensor& x, int axis)
      : target(dispatch::target_of(state_of(x))), split(split_at(x.shape(), axis)), lines(split.outer * split.inner) {
    step = std::clamp<std::int64_t>(target.loop_budget / 2, 1, std::max<std::int64_t>(1, split.size));
    work = split_for(target, lines, std::max<std::int64_t>(1, 8192 / step), 1, step);
  }

  template <class... Tensors>
  void launch(runtime::DeviceState& device, const char* entry, const char* type, std::int64_t first,
              const Tensors&... tensors) const {
    const kernels::LineParameters sizes{.lines = lines, .n = split.size, .inner = split.inner, .chunk = work.chunk};
    runtime::launch(device, {"reduce/cumprod.cl", entry, {{"T", type}}}, range_of(target, work.items), tensors...,
                    runtime::KernelArg(&sizes, sizeof sizes), first, std::min(first + step, split.size));
  }

  dispatch::Target target;
  AxisSplit split;
  std::int64_t lines, step;
  dispatch::WorkSplit work;
};

Tensor running_product(const Tensor& x, int axis, const Tensor* into = nullptr) {
  constexpr const char* op = "cumprod";
  require(x.defined(), op, "the tensor is undefined");
  const int at = axis_or_scalar(op, axis, x.dim());
  // Integers are multiplied as i64. Unsigned products wrap around.
  const bool floating = is_floating(x.dtype());
  const DType computed = floating ? DType::f32 : DType::i64;
  Result y(op, into, x.shape(), floating ? x.dtype() : computed, x.device(), {&x}, Result::Layout::row_major, computed);
  if (x.numel() > 0) {
    const Contiguous from(x, computed);
    const Lines lines(x, at);
    for (std::int64_t first = 0; first < lines.split.size; first += lines.step)
      lines.launch(state_of(x), "products", floating ? "float" : "ulong", first, in(from), out(y));
  }
  return y.done();
}

}  // namespace

Tensor cumprod(const Tensor& x, int axis) { return running_product(x, axis); }
void cumprod_into(const Tensor& y, const Tensor& x, int axis) { running_product(x, axis, &y); }

Tensor cumprod_backward(const Tensor& dy, const Tensor& x, const Tensor& y, int axis) {
  constexpr const char* op = "cumprod_backward";
  require(dy.defined() && x.defined() && y.defined(), op, "a tensor is undefined");
  require(is_floating(x.dtype()), op, "the tensor must be ", TypesThat{is_floating}, ", it is ", x.dtype());
  require_shape(op, "the gradient", dy, x.shape());
  require_shape(op, "the result", y, x.shape());
  require_device(op, "the tensor", x, "the gradient", dy);
  require_device(op, "the tensor", x, "the result", y);
  if (x.dim() == 0) return clone(dy);
  const int at = normalized_axis(op, axis, x.dim());
  if (x.numel() == 0) return clone(dy);
  return rehearsed(call_key(op, {&dy, &x, &y}, {axis}), [&] {
    const Contiguous more(dy, DType::f32), factors(x, DType::f32);
    const Tensor suffixes = empty(x.shape(), DType::f32, x.device());
    const Lines lines(x, at);
    const std::int64_t last = (lines.split.size - 1) / lines.step * lines.step;
    for (std::int64_t first = last; first >= 0; first -= lines.step)
      lines.launch(state_of(x), "suffixes", "float", first, in(more), in(factors), out(suffixes));
    Shape one = x.shape();
    one[at] = 1;
    const Tensor before =
        cat({ones(one, DType::f32, x.device()), narrow(cast(y, DType::f32), at, 0, x.shape()[at] - 1)}, at);
    return cast(mul(suffixes, before), dy.dtype());
  });
}

}  // namespace crisol::ops
