#include "crisol/ops/triangle.h"

#include <algorithm>

#include "crisol/ops/copy.h"
#include "dispatch/work_split.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/index/indexing.h"
#include "ops/result.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

Tensor triangle(const char* op, const Tensor& x, std::int64_t diagonal, bool upper, const Tensor* into = nullptr) {
  require(x.defined(), op, "the tensor is undefined");
  require(x.dim() >= 2, op, "the tensor must be (..., R, C), its shape is ", x.shape());
  runtime::DeviceState& device = state_of(x);
  const std::int64_t height = x.shape()[x.dim() - 2], width = x.shape().back();
  Result y(op, into, x.shape(), x.dtype(), x.device(), {&x});
  if (x.numel() == 0) return y.done();
  const Contiguous from(x);
  const dispatch::Target target = dispatch::target_of(device);
  const dispatch::WorkSplit split = split_for(target, x.numel());
  // Limits the diagonal to the matrix and its neighbourhood, so that nothing overflows. All diagonals outside of the
  // matrix give the same result.
  const std::int64_t within = std::clamp(diagonal, -height - 1, width + 1);
  runtime::launch(device, {"layout/triangle.cl", "triangle", {{"ELEMENT", type_of_element(x.dtype())}}},
                  range_of(target, split.items), in(from), out(y), x.numel(), height, width, within,
                  std::int32_t{upper}, split.chunk);
  return y.done();
}

}  // namespace

Tensor tril(const Tensor& x, std::int64_t diagonal) { return triangle("tril", x, diagonal, false); }
void tril_into(const Tensor& y, const Tensor& x, std::int64_t diagonal) { triangle("tril", x, diagonal, false, &y); }
Tensor triu(const Tensor& x, std::int64_t diagonal) { return triangle("triu", x, diagonal, true); }
void triu_into(const Tensor& y, const Tensor& x, std::int64_t diagonal) { triangle("triu", x, diagonal, true, &y); }

}  // namespace crisol::ops
