// Products of matrices of integers and of f64: cl_kernels/product/gemm_whole.cl.
#include "ops/product/gemm_whole.h"
#include "crisol/dtype_table.h"
#include "ops/contiguous.h"

#include "base/ceil_div.h"
#include "crisol/ops/copy.h"
#include "dispatch/work_split.h"
#include "ops/product/leading_axes.h"
#include "product/parameters.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

Tensor multiply_whole(const Tensor& a, const Tensor& b, const Shape& shape) {
  const Tensor y = empty(shape, a.dtype(), a.device());
  if (y.numel() == 0) return y;
  if (a.size(-1) == 0) {
    fill_into(y, 0);
    return y;
  }
  const Contiguous right = b.strides()[b.dim() - 1] == 1 ? Contiguous::as_is(b) : Contiguous(b);
  const Shape leading = leading_axes(shape);
  runtime::DeviceState& device = state_of(y);
  const dispatch::Target target = dispatch::target_of(device);
  const bool cpu = target.takes_cpu_kernels();
  const std::int64_t rows = 4, columns = cpu ? 16 : 1;
  const std::int64_t blocks = leading.numel() * ceil_div(y.size(-2), rows) * ceil_div(y.size(-1), columns);
  const char* const sums = is_floating(a.dtype()) ? number_type(a.dtype()) : size_of(a.dtype()) == 8 ? "ulong" : "uint";
  const runtime::KernelSpec spec{"product/gemm_whole.cl",
                                 "multiply_whole",
                                 {{"T", number_type(a.dtype())}, {"U", sums}, {"ROWS", rows}, {"COLUMNS", columns}}};
  const Shape a_strides = leading_strides(a, leading), b_strides = leading_strides(right.layout(), leading);
  const kernels::WholeParameters parameters{.blocks = blocks,
                                            .rows = y.size(-2),
                                            .columns = y.size(-1),
                                            .a_row = a.strides()[a.dim() - 2],
                                            .a_column = a.strides()[a.dim() - 1],
                                            .b_row = right.layout().strides()[b.dim() - 2],
                                            .axes = leading.rank(),
                                            .unused = 0};
  in_launches(target, a.size(-1), 2 * rows * columns, [&](std::int64_t first, std::int64_t end) {
    runtime::launch(device, spec, range_of(target, blocks), in(a), in(right), out(y), struct_arg(parameters), first,
                    end, leading, a_strides, b_strides);
  });
  return y;
}

}  // namespace crisol::ops
