// Running sums of exponentials along an axis: cl_kernels/reduce/logcumsumexp.cl.
#include "crisol/dtype_table.h"
#include "crisol/ops/reduce.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/reduce/lines.h"
#include "ops/result.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

/// The axis, after the checks of x.
int axis_of_exponentials(const char* op, const Tensor& x, int axis) {
  require(x.defined(), op, "the tensor is undefined");
  require(is_floating(x.dtype()), op, "the tensor must be ", TypesThat{is_floating}, ", it is ", x.dtype());
  return axis_or_scalar(op, axis, x.dim());
}

runtime::KernelSpec exponential_kernel(const char* entry, const Tensor& x) {
  return {"reduce/logcumsumexp.cl",
          entry,
          {{"STORED", dtype_row(x.dtype()).opencl}, {"T", dtype_row(value_type(x.dtype())).opencl}}};
}

Tensor running_exponentials(const Tensor& x, int axis, const Tensor* into = nullptr) {
  constexpr const char* op = "logcumsumexp";
  const int at = axis_of_exponentials(op, x, axis);
  Result y(op, into, x.shape(), x.dtype(), x.device(), {&x});
  if (x.numel() > 0) {
    const Contiguous from(x);
    Lines(x, at).forward(exponential_kernel(op, x), in(from), out(y));
  }
  return y.done();
}

}  // namespace

Tensor logcumsumexp(const Tensor& x, int axis) { return running_exponentials(x, axis); }
void logcumsumexp_into(const Tensor& y, const Tensor& x, int axis) { running_exponentials(x, axis, &y); }

Tensor logcumsumexp_backward(const Tensor& dy, const Tensor& x, const Tensor& y, int axis) {
  constexpr const char* op = "logcumsumexp_backward";
  require(dy.defined() && y.defined(), op, "a tensor is undefined");
  const int at = axis_of_exponentials(op, x, axis);
  for (const auto& [name, other] : {std::pair("the gradient", &dy), std::pair("the result", &y)}) {
    require_dtype(op, name, *other, x.dtype());
    require_shape(op, name, *other, x.shape());
    require_device(op, "the tensor", x, name, *other);
  }
  const Tensor dx = empty(x.shape(), x.dtype(), x.device());
  if (x.numel() == 0) return dx;
  const Contiguous gradients(dy), inputs(x), results(y);
  const Lines lines(x, at);
  const Tensor sums = empty({lines.count()}, value_type(x.dtype()), x.device());
  lines.backward(exponential_kernel(op, x), in(gradients), in(inputs), in(results), out(dx), out(sums));
  return dx;
}

}  // namespace crisol::ops
