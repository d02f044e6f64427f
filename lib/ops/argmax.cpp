#include "base/text.h"
#include "crisol/ops/reduce.h"
#include "ops/reduce_axes.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

Tensor argmax(const Tensor& x, const Shape& axes, bool keepdim) {
  const ReduceAxes split = split_axes("argmax", x, axes, keepdim, true);
  require(split.reduced > 0 || split.outputs == 0, "argmax", "no elements to reduce in shape ", x.shape());
  const Tensor y = empty(split.result, DType::i64, x.device());
  if (split.outputs == 0) return y;
  runtime::DeviceState& device = state_of(x);
  runtime::Kernel& find_first = runtime::resolve(device, {"argmax.cl", "find_first"});
  const Tensor largest = max(x, axes, keepdim);
  runtime::launch(device, find_first, runtime::flat_range(device, split.outputs), in(x), in(largest), out(y),
                  split.kept_shape, split.kept_strides, std::int32_t{split.kept_shape.rank()}, split.reduced_shape,
                  split.reduced_strides, std::int32_t{split.reduced_shape.rank()}, split.outputs, split.reduced);
  return y;
}

}  // namespace crisol::ops
