// Only for lib/ops/conv, until it is converted to plans; see gemm_dot.h.
// Geometry of the row-product kernels for CPUs (gemm_dot_cpu.cl), shared by matmul and convolution's backward weights.
#pragma once

#include <optional>

#include "ops/product/gemm.h"

namespace crisol::ops {
inline namespace before_plans {

/// How an m x n result with depth k is cut; see the head of gemm_dot_cpu.cl.
struct RowPlan {
  std::int32_t vector_width, tile_m, tile_n;
  std::int32_t block_m, block_n, block_k;
  std::int32_t splits;  ///< Parts of the depth; above 1 their sums go through a workspace.
  std::int64_t items;
  std::int64_t slice;  ///< Floats of scratch of each.
};

/// Nothing where the problem is beyond the kernel's int indices or the device's loop budget. `gathered_taps` is 0 for
/// matrices, else the taps (r, s) of a convolution.
std::optional<RowPlan> plan_rows(const DeviceInfo& info, int vector_width, std::int64_t m, std::int64_t n,
                                 std::int64_t k, std::int64_t batch, std::int64_t gathered_taps);

struct RowKernels {
  runtime::Kernel& multiply;
  runtime::Kernel& sum;
};
RowKernels resolve_rows(runtime::DeviceState& device, const RowPlan& plan, const Epilogue* epilogue = nullptr);

/// What gemm_dot multiplies, see there; from the problem come m, n, k, batch, the first elements, the distances of
/// batches and C, the bias, the flags and the epilogue. Its sums go to the partials, if there are any.
struct RowProduct {
  const Gemm& problem;
  std::int64_t bias_batch = 0;
  std::int32_t flags = 0;  ///< gathered or none.
  Shape places{}, plane{}, walk{};
};
void launch_rows(const RowPlan& plan, const RowKernels& kernels, const RowProduct& product);

}  // namespace before_plans
}  // namespace crisol::ops
