// Running products along an axis: cl_kernels/reduce/cumprod.cl.
#include "crisol/dtype_table.h"
#include "crisol/ops/cat.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/reduce.h"
#include "crisol/ops/view.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/reduce/lines.h"
#include "ops/reduce/reduction.h"
#include "ops/result.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

Tensor running_product(const Tensor& x, int axis, const Tensor* into = nullptr) {
  constexpr const char* op = "cumprod";
  require(x.defined(), op, "the tensor is undefined");
  const int at = axis_or_scalar(op, axis, x.dim());
  // Integers are multiplied as i64. Unsigned products wrap around.
  const bool floating = is_floating(x.dtype());
  const DType computed = accumulator(ReduceTypes::total, x.dtype());
  Result y(op, into, x.shape(), floating ? x.dtype() : computed, x.device(), {&x}, Result::Layout::row_major, computed);
  if (x.numel() > 0) {
    const Contiguous from(x, computed);
    Lines(x, at).forward({"reduce/cumprod.cl", "products", {{"T", floating ? dtype_row(computed).opencl : "ulong"}}},
                         in(from), out(y));
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
  const DType computed = value_type(x.dtype());
  const Contiguous more(dy, computed), factors(x, computed);
  const Tensor suffixes = empty(x.shape(), computed, x.device());
  Lines(x, at).backward({"reduce/cumprod.cl", "suffixes", {{"T", dtype_row(computed).opencl}}}, in(more), in(factors),
                        out(suffixes));
  Shape one = x.shape();
  one[at] = 1;
  const Tensor before = cat({ones(one, computed, x.device()), narrow(cast(y, computed), at, 0, x.shape()[at] - 1)}, at);
  return cast(mul(suffixes, before), dy.dtype());
}

}  // namespace crisol::ops
