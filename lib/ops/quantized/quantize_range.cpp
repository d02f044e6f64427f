#include "ops/quantized/quantize_range.h"

#include <algorithm>

#include "base/ceil_div.h"
#include "crisol/dtype_table.h"
#include "dispatch/work_split.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "runtime/launch.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

RangeQuantized quantize_range(const Tensor& x, bool centred) {
  constexpr const char* file = "quantized/quantize_range.cl";
  constexpr std::int64_t unit = 1024;
  require(x.dtype() == DType::f32, "quantize_range", x.dtype(), " is not supported, f32 is");
  const Contiguous numbers(x);
  const DType type = centred ? DType::i16 : DType::u8;
  const RangeQuantized y{empty(x.shape(), type, x.device()), empty({}, DType::f32, x.device()),
                         empty({}, DType::u8, x.device())};
  runtime::DeviceState& device = state_of(y.scale);
  const std::int64_t units = std::max<std::int64_t>(1, ceil_div(x.numel(), unit));
  const runtime::NdRange range = dispatch::persistent_range(dispatch::target_of(device), units, unit);
  const Tensor ranges = empty({static_cast<std::int64_t>(range.global[0]), 2}, DType::f32, x.device());
  const auto count = static_cast<std::uint64_t>(x.numel());
  runtime::launch(device, {file, "part_ranges"}, range, in(numbers), out(ranges), count);
  runtime::launch(device, {file, "quantize_range", {{"NUMBER", number_type(type)}}}, range, in(numbers), in(ranges),
                  out(y.numbers), out(y.scale), out(y.zero), count);
  return y;
}

}  // namespace crisol::ops
