// The positions of elements that are not 0: cl_kernels/index/nonzero.cl.
#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/index.h"
#include "crisol/ops/reduce.h"
#include "crisol/ops/view.h"
#include "dispatch/work_split.h"
#include "ops/check.h"
#include "ops/index/indexing.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

Tensor nonzero(const Tensor& x) {
  require(x.defined(), "nonzero", "the tensor is undefined");
  const std::int64_t elements = x.numel();
  const std::int32_t rank = x.dim();
  if (elements == 0) return empty({0, rank}, DType::i64, x.device());
  runtime::DeviceState& device = state_of(x);
  runtime::BuiltKernel& kernel = runtime::resolve(device, {"index/nonzero.cl", "nonzero", {}});
  const Tensor flags = reshape(ne(x, 0), {elements}), counts = cumsum(flags, 0);
  const auto rows = narrow(counts, 0, elements - 1, 1).item<std::int64_t>();
  const Tensor y = empty({rows, rank}, DType::i64, x.device());
  if (y.numel() == 0) return y;
  const dispatch::Target target = dispatch::target_of(device);
  const dispatch::WorkSplit split = split_for(target, elements, 8192, 16, 2 + rank);
  runtime::launch(device, kernel, range_of(target, split.items), in(flags), in(counts), out(y), elements, rank,
                  x.shape(), split.chunk);
  return y;
}

}  // namespace crisol::ops
