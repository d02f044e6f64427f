// Repeating the elements of images: cl_kernels/vision/enlarge.cl.
#include <algorithm>

#include "crisol/ops/copy.h"
#include "crisol/ops/vision.h"
#include "dispatch/work_split.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/index/indexing.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

Tensor enlarge(const Tensor& x, std::int64_t down, std::int64_t across) {
  constexpr const char* op = "enlarge";
  require(x.defined(), op, "the input is undefined");
  require(x.dim() >= 2, op, "the input has shape ", x.shape(), ", (…, H, W) expected");
  require(down > 0 && across > 0 && std::max(down, across) < INT32_MAX, op, "elements are repeated ", down, " x ",
          across, " times");
  Shape shape = x.shape();
  shape[x.dim() - 2] *= down;
  shape[x.dim() - 1] *= across;
  runtime::DeviceState& device = state_of(x);
  const Tensor y = empty(shape, x.dtype(), x.device());
  if (y.numel() == 0) return y;
  const Contiguous from(x);
  const dispatch::Target target = dispatch::target_of(device);
  const std::int64_t width = x.shape().back(), rows = x.numel() / width;
  const bool cpu = target.info.type == DeviceType::cpu;
  runtime::launch(device,
                  {"vision/enlarge.cl",
                   cpu ? "enlarge_rows" : "enlarge_elements",
                   {{"ELEMENT", type_of_element(x.dtype())}, {"VW", target.cpu_vector_width()}}},
                  cpu ? persistent_range(target, rows, width * across * (down + 1)) : target.flat_range(y.numel()),
                  in(from), out(y), rows, width, static_cast<std::int32_t>(down), static_cast<std::int32_t>(across));
  return y;
}

}  // namespace crisol::ops
