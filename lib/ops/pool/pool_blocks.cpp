// Pooling of channels in blocks. Each op has one variant.
#include "ops/pool/pool_blocks.h"

#include "dispatch/work_split.h"

namespace crisol::ops {

using namespace dispatch;

namespace {

struct BlockPool {
  PoolGeometry geometry;
  std::int64_t block;
  std::int64_t include_pad;  ///< Of averages.
  std::int64_t type = 0;     ///< The DType of the elements in memory.

  ProblemKey key() const {
    const PoolGeometry& g = geometry;
    const ProblemKey key{{"planes", g.planes},    {"h", g.height},          {"w", g.width},
                         {"out_h", g.out_h},      {"out_w", g.out_w},       {"r", g.kernel_h},
                         {"s", g.kernel_w},       {"stride_h", g.stride_h}, {"stride_w", g.stride_w},
                         {"pad_h", g.pad_h},      {"pad_w", g.pad_w},       {"dil_h", g.dilation_h},
                         {"dil_w", g.dilation_w}, {"block", block},         {"include_pad", include_pad}};
    return key.with_types(type);
  }
};

template <bool is_max>
PlanOr plan_outputs(const BlockPool& p, const Target& target, std::size_t) {
  const auto [x, y] = operands<2>();
  const PoolGeometry& g = p.geometry;
  const runtime::NdRange range = persistent_range(target, g.planes * g.out_h * g.out_w, 2 * g.window() + 2);
  runtime::KernelSpec spec{"pool/pool_blocks.cl", is_max ? "max_pool_blocks" : "avg_pool_blocks", {{"VW", p.block}}};
  define_elements(spec.defines, p.type);
  Plan plan;
  if constexpr (is_max)
    plan.add(spec, range, x, y, g.planes, g.kernel_window());
  else
    plan.add(spec, range, x, y, g.planes, g.kernel_window(), static_cast<std::int32_t>(p.include_pad));
  return plan;
}

constexpr Variant<BlockPool> max_variants[] = {{"outputs", DeviceClass::any, plan_outputs<true>}};
constexpr Variant<BlockPool> avg_variants[] = {{"outputs", DeviceClass::any, plan_outputs<false>}};
const Table<BlockPool> max_table("max_pool2d_blocks", max_variants);
const Table<BlockPool> avg_table("avg_pool2d_blocks", avg_variants);

Tensor pool(const Table<BlockPool>& table, const Tensor& x, const PoolGeometry& g, bool include_pad) {
  const char* const op = table.op;
  require_storage(op, "the input", x);
  require(x.dim() == 5, op, "the input must have 5 axes (N, blocks, H, W, block), its shape is ", x.shape());
  const std::int64_t block = x.size(4);
  require(block == 4 || block == 8 || block == 16, op, "a block of ", block, " channels; 4, 8 or 16 is expected");
  require(x.size(0) * x.size(1) == g.planes && x.size(2) == g.height && x.size(3) == g.width, op,
          "the input has shape ", x.shape(), ", the pooling is of ", g.planes, " planes of ", g.height, " x ", g.width);
  require(g.window() <= max_pool_taps, op, "a window of ", g.kernel_h, " x ", g.kernel_w, ", more than ", max_pool_taps,
          " elements");
  const Shape shape{x.size(0), x.size(1), g.out_h, g.out_w, block};
  if (shape.numel() == 0) return empty(shape, x.dtype(), x.device());
  return pooled(table, BlockPool{g, block, include_pad ? 1 : 0}, x, shape);
}

}  // namespace

Tensor max_pool2d_blocks(const Tensor& x, const PoolGeometry& geometry) { return pool(max_table, x, geometry, false); }

Tensor avg_pool2d_blocks(const Tensor& x, const PoolGeometry& geometry, bool include_pad) {
  require(geometry.dilation_h == 1 && geometry.dilation_w == 1, avg_table.op, "the dilation is ", geometry.dilation_h,
          " x ", geometry.dilation_w, ", it must be 1");
  return pool(avg_table, x, geometry, include_pad);
}

}  // namespace crisol::ops
