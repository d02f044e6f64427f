// Non-maximum suppression: cl_kernels/vision/nms.cl.
#include <algorithm>
#include <limits>

#include "crisol/ops/copy.h"
#include "crisol/ops/reduce.h"
#include "crisol/ops/sort.h"
#include "crisol/ops/view.h"
#include "crisol/ops/vision.h"
#include "dispatch/work_split.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/storage.h"
#include "tensor/kernel_args.h"
#include "vision/parameters.h"

namespace crisol::ops {

Tensor non_max_suppression(const Tensor& boxes, const Tensor& scores, const NonMaxSuppressionOptions& options) {
  constexpr const char* op = "non_max_suppression";
  require(boxes.defined() && scores.defined(), op, "a tensor is undefined");
  require_floating(op, "the boxes", boxes);
  require_floating(op, "the scores", scores);
  require_device(op, "the boxes", boxes, "the scores", scores);
  require(boxes.dim() == 3 && boxes.size(2) == 4, op, "the boxes have shape ", boxes.shape(), ", it must be (N, K, 4)");
  require(scores.dim() == 3 && scores.size(0) == boxes.size(0) && scores.size(2) == boxes.size(1), op,
          "the scores have shape ", scores.shape(), ", for boxes of shape ", boxes.shape(), " it must be (",
          boxes.size(0), ", C, ", boxes.size(1), ')');
  require(boxes.size(1) <= std::numeric_limits<std::int32_t>::max(), op, "there are ", boxes.size(1), " boxes");
  require(options.max_per_class >= 0, op, "max_per_class is ", options.max_per_class);
  const std::int64_t classes = scores.size(1), count = boxes.size(1), rows = boxes.size(0) * classes,
                     most = std::min(options.max_per_class, count);
  if (rows == 0 || most == 0) return empty({0, 3}, DType::i64, boxes.device());

  runtime::DeviceState& device = state_of(boxes);
  const DType real = promote_types(promote_types(boxes.dtype(), DType::f32), scores.dtype());
  runtime::Defines defines;
  define_real(defines, real);
  runtime::BuiltKernel& select = runtime::resolve(device, {"vision/nms.cl", "nms_select", defines});
  runtime::BuiltKernel& collect = runtime::resolve(device, {"vision/nms.cl", "nms_collect", {}});
  const kernels::SuppressionParameters sizes{.rows = rows,
                                             .count = count,
                                             .classes = kernels::number(classes),
                                             .most = kernels::number(most),
                                             .centered = options.centered ? 1 : 0,
                                             .unused = 0};
  const Tensor selected = empty({rows, most}, DType::i32, boxes.device());
  const Tensor taken = empty({rows}, DType::i32, boxes.device());
  const SortResult sorted = sort(scores, -1, true);
  const Contiguous places(boxes, real), values(sorted.values, real), order(sorted.indices);
  in_launches(dispatch::target_of(device), count, most + 1, [&](std::int64_t begin, std::int64_t end) {
    runtime::launch(device, select, runtime::flat_range(device, rows), in(places), in(values), in(order), out(selected),
                    out(taken), struct_arg(sizes), real_arg(options.iou_threshold, real),
                    real_arg(options.score_threshold, real), begin, end);
  });
  const Tensor ends = cumsum(cast(taken, DType::i64), 0);
  const auto total = narrow(ends, 0, rows - 1, 1).item<std::int64_t>();
  const Tensor y = empty({total, 3}, DType::i64, boxes.device());
  if (total == 0) return y;
  runtime::launch(device, collect, runtime::flat_range(device, rows), in(selected), in(taken), in(ends), out(y),
                  struct_arg(sizes));
  return y;
}

}  // namespace crisol::ops
