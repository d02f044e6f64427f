#include "crisol/ops/softmax.h"

#include "base/text.h"
#include "crisol/ops/copy.h"
#include "ops/check.h"
#include "ops/rowwise/rows.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

struct SoftmaxProblem : RowProblem {
  bool log;
  Tensor x, y;
  Tensor dy, dx;  // Backward only.
};

// The layout (outer, n, inner) around the axis.
SoftmaxProblem problem_of(const char* op, const Tensor& x, int axis, bool log) {
  require(is_floating(x.dtype()), op, "the input must be f32 or f16, it is ", x.dtype());
  axis = normalized_axis(op, axis, x.dim());
  std::int64_t inner = 1;
  for (int i = axis + 1; i < x.dim(); ++i) inner *= x.shape()[i];
  const std::int64_t n = x.shape()[axis];
  return {{state_of(x), n == 0 ? 0 : x.numel() / n, n, inner}, log, {}, {}, {}, {}};
}

runtime::KernelSpec spec_of(const SoftmaxProblem& p, const RowGeometry& g, const char* entry) {
  runtime::Defines defines = row_defines(p.device, g);
  defines.add({"LOG", p.log ? 1 : 0});
  return {"rowwise/softmax.cl", entry, std::move(defines)};
}

void run_forward(const SoftmaxProblem& p, const RowGeometry& g) {
  runtime::launch(p.device, spec_of(p, g, "softmax_forward"), g.each_row(p.device, p.rows, p.length), in(p.x), out(p.y),
                  p.rows, p.length, p.step);
}

void run_backward(const SoftmaxProblem& p, const RowGeometry& g) {
  runtime::launch(p.device, spec_of(p, g, "softmax_backward"), g.each_row(p.device, p.rows, p.length), in(p.dy),
                  in(p.y), out(p.dx), p.rows, p.length, p.step);
}

Tensor forward(const char* op, const Tensor& x, int axis, bool log) {
  SoftmaxProblem p = problem_of(op, x, axis, log);
  if (x.dtype() == DType::f16) return cast(forward(op, cast(x, DType::f32), axis, log), DType::f16);
  p.x = contiguous(x);
  p.y = empty(x.shape(), DType::f32, x.device());
  choose(op, row_variants<SoftmaxProblem, run_forward>, p, x.device().info()).run(p);
  return p.y;
}

Tensor backward(const char* op, const Tensor& dy, const Tensor& y, int axis, bool log) {
  SoftmaxProblem p = problem_of(op, y, axis, log);
  require_dtype(op, "the gradient", dy, y.dtype());
  require_shape(op, "the gradient", dy, y.shape());
  require_device(op, "the result", y, "its gradient", dy);
  if (y.dtype() == DType::f16)
    return cast(backward(op, cast(dy, DType::f32), cast(y, DType::f32), axis, log), DType::f16);
  p.y = contiguous(y);
  p.dy = contiguous(dy);
  p.dx = empty(y.shape(), DType::f32, y.device());
  choose(op, row_variants<SoftmaxProblem, run_backward>, p, y.device().info()).run(p);
  return p.dx;
}

}  // namespace

Tensor softmax(const Tensor& x, int axis) { return forward("softmax", x, axis, false); }

Tensor softmax_backward(const Tensor& dy, const Tensor& y, int axis) {
  return backward("softmax_backward", dy, y, axis, false);
}

Tensor log_softmax(const Tensor& x, int axis) { return forward("log_softmax", x, axis, true); }

Tensor log_softmax_backward(const Tensor& dy, const Tensor& y, int axis) {
  return backward("log_softmax_backward", dy, y, axis, true);
}

}  // namespace crisol::ops
