// Copies whose source and destination are contiguous along different axes. The variants are "squares" (CPUs) and
// "tiles".
#include "ops/layout/transpose_copy.h"

#include <algorithm>

#include "base/ceil_div.h"
#include "crisol/dtype_table.h"
#include "dispatch/choose.h"
#include "dispatch/work_split.h"
#include "layout/sizes.h"
#include "ops/collapse.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

using namespace dispatch;

std::int64_t tiles_of(const TransposeProblem& p, std::int64_t height, std::int64_t width) {
  return p.batches() * ceil_div(p.rows, height) * ceil_div(p.columns, width);
}

// Describes the copy as a batch of transposes. Returns nothing if it is no transpose, or is too small for tiles to
// help.
std::optional<TransposeProblem> as_transposes(const Tensor& src, const Shape& shape, const Shape& dst_strides) {
  if ((size_of(src.dtype()) != 4 && size_of(src.dtype()) != 2) || shape.numel() == 0) return std::nullopt;
  const std::array<Shape, 2> strides{broadcast_strides(src, shape), dst_strides};
  for (const std::int64_t stride : strides[0])
    if (stride < 0) return std::nullopt;  // ops::flip reads with negative strides.
  const Loop loop = collapse(shape, strides);
  if (loop.shape.rank() - 2 > runtime::kernel_axes) return std::nullopt;
  int row_axis = -1, column_axis = -1;
  for (int i = 0; i < loop.shape.rank(); ++i) {
    if (loop.strides[0][i] == 1 && loop.strides[1][i] != 1) row_axis = i;
    if (loop.strides[1][i] == 1 && loop.strides[0][i] > 1) column_axis = i;
  }
  if (row_axis < 0 || column_axis < 0 || loop.shape[row_axis] < 4 || loop.shape[column_axis] < 4) return std::nullopt;
  TransposeProblem problem;
  problem.type = static_cast<std::int64_t>(moved_as(src.dtype()));
  for (int i = 0; i < loop.shape.rank(); ++i)
    if (i != row_axis && i != column_axis) problem.add_axis(loop.shape[i], loop.strides[0][i], loop.strides[1][i]);
  problem.rows = loop.shape[row_axis];
  problem.columns = loop.shape[column_axis];
  problem.src_ld = loop.strides[0][column_axis];
  problem.dst_ld = loop.strides[1][row_axis];
  return problem;
}

// The number of lines of a tile that a GPU's work-group moves at once.
std::int64_t lines_of(const Target& target) {
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(target.info.max_work_group) / TRANSPOSE_TILE, 1, 8);
}

template <class... More>
Plan plan_tiles_of(const TransposeProblem& p, const Target& target, const char* entry, const runtime::NdRange& range,
                   More... more) {
  const auto [src, dst] = operands<2>();
  runtime::Defines defines{{"VW", target.cpu_vector_width()}, {"LINES", lines_of(target)}};
  if (size_of(static_cast<DType>(p.type)) == 2) defines.add({"MOVED", "ushort"});
  Plan plan;
  plan.add({"layout/transpose_copy.cl", entry, defines}, range, src, dst, p.shape_of(p.batch), p.shape_of(p.src_batch),
           p.shape_of(p.dst_batch), static_cast<std::int32_t>(p.batch_rank), p.rows, p.columns, p.src_ld, p.dst_ld,
           more...);
  return plan;
}

PlanOr plan_squares(const TransposeProblem& p, const Target& target, std::size_t) {
  const std::int64_t width = target.cpu_vector_width(), tiles = tiles_of(p, 4 * width, width);
  // A tile at the edge is copied element by element. Further iterations find the tile's position.
  const std::int64_t iterations = 4 * width * width + 64;
  const WorkSplit split =
      split_for_cpu(target, tiles, std::max<std::int64_t>(2048 / (width * width), 1), 1, iterations);
  return plan_tiles_of(p, target, "squares", {{split.items}, {1}}, tiles, split.chunk);
}

PlanOr plan_tiles(const TransposeProblem& p, const Target& target, std::size_t) { return plan_transposes(p, target); }

constexpr Variant<TransposeProblem> variants[] = {{"squares", DeviceClass::cpu, plan_squares},
                                                  {"tiles", DeviceClass::any, plan_tiles}};
const Table<TransposeProblem> table("transpose_copy", variants);

}  // namespace

Shape TransposeProblem::shape_of(const Axes& axes) const { return {axes.data(), static_cast<std::size_t>(batch_rank)}; }

void TransposeProblem::add_axis(std::int64_t size, std::int64_t src_stride, std::int64_t dst_stride) {
  const auto at = static_cast<std::size_t>(batch_rank++);
  batch[at] = size;
  src_batch[at] = src_stride;
  dst_batch[at] = dst_stride;
}

Plan plan_transposes(const TransposeProblem& p, const Target& target) {
  const std::int64_t lines = lines_of(target);
  const std::int64_t tiles = tiles_of(p, TRANSPOSE_TILE, TRANSPOSE_TILE);
  return plan_tiles_of(p, target, "tiles", {{tiles * TRANSPOSE_TILE, lines}, {TRANSPOSE_TILE, lines}});
}

bool is_worth_transposing(const Tensor& x) {
  constexpr std::int64_t worth_it = 1 << 14;  // With fewer elements, a launch costs more than it saves.
  return x.numel() >= worth_it && x.strides().back() != 1 && as_transposes(x, x.shape(), contiguous_strides(x.shape()));
}

PreparedPtr prepare_transposes(const Tensor& dst, const Tensor& src) {
  if (dst.dtype() != src.dtype()) return nullptr;
  const std::optional<TransposeProblem> problem = as_transposes(src, dst.shape(), dst.strides());
  return problem ? prepare(table, *problem, state_of(dst)) : nullptr;
}

}  // namespace crisol::ops
