#include "ops/quantized/byte_table.h"

#include "base/byte_dtype.h"
#include "crisol/ops/copy.h"
#include "dispatch/work_split.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/index/indexing.h"
#include "runtime/launch.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

constexpr std::int64_t bytes = 256;

}  // namespace

Tensor all_bytes(DType dtype, Device device) { return cast(arange(0, bytes, 1, DType::i32, device), dtype); }

Tensor look_up_bytes(const Tensor& table, const Tensor& x) {
  constexpr const char* op = "look_up_bytes";
  require(is_of_bytes(x.dtype()), op, x.dtype(), " is not supported, u8 and i8 are");
  require(table.shape() == Shape{bytes}, op, "a table of shape ", table.shape(), ", ", bytes, " elements expected");
  require_device(op, "the table", table, "the bytes", x);
  const Contiguous numbers(x), values(table);
  const Tensor y = empty(x.shape(), table.dtype(), x.device());
  if (y.numel() == 0) return y;
  runtime::DeviceState& device = state_of(y);
  const dispatch::Target target = dispatch::target_of(device);
  const dispatch::WorkSplit split = split_for(target, y.numel());
  runtime::launch(device, {"quantized/byte_table.cl", "look_up_bytes", {{"T", type_of_element(table.dtype())}}},
                  range_of(target, split.items), in(numbers), in(values), out(y), y.numel(), split.chunk);
  return y;
}

}  // namespace crisol::ops
