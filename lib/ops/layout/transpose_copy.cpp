// Copies whose source and destination are contiguous along different axes. The variants are "squares" (CPUs) and
// "tiles".
#include "ops/layout/transpose_copy.h"

#include <algorithm>
#include <array>
#include <optional>

#include "dispatch/persistent.h"
#include "dispatch/variant.h"
#include "dispatch/work_split.h"
#include "ops/collapse.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

struct Problem {
  const Tensor &dst, &src;
  Shape batch, src_batch, dst_batch;  ///< The axes outside of the tiles, at least rank 1.
  std::int64_t rows = 0, columns = 0, src_step = 0, dst_step = 0;

  ProblemKey key() const { return {{"batch", batch.numel()}, {"rows", rows}, {"columns", columns}}; }
  std::int64_t tiles(std::int64_t height, std::int64_t width) const {
    return batch.numel() * ((rows + height - 1) / height) * ((columns + width - 1) / width);
  }
};

// Returns the copy as a batch of transposes. Returns nothing if it is no transpose or is too small for tiles to help.
std::optional<Problem> as_transposes(const Tensor& dst, const Tensor& src) {
  if (size_of(dst.dtype()) != 4 || dst.numel() == 0) return std::nullopt;
  const std::array<Shape, 2> strides{broadcast_strides(src, dst.shape()), dst.strides()};
  const Loop loop = collapse(dst.shape(), strides);
  Problem problem{dst, src, {}, {}, {}};
  int row_axis = -1, column_axis = -1;
  for (int i = 0; i < loop.shape.rank(); ++i) {
    if (loop.strides[0][i] == 1 && loop.strides[1][i] != 1) row_axis = i;
    if (loop.strides[1][i] == 1 && loop.strides[0][i] > 1) column_axis = i;
  }
  if (row_axis < 0 || column_axis < 0 || loop.shape[row_axis] < 4 || loop.shape[column_axis] < 4) return std::nullopt;
  for (int i = 0; i < loop.shape.rank(); ++i) {
    if (i == row_axis || i == column_axis) continue;
    problem.batch.push_back(loop.shape[i]);
    problem.src_batch.push_back(loop.strides[0][i]);
    problem.dst_batch.push_back(loop.strides[1][i]);
  }
  problem.rows = loop.shape[row_axis];
  problem.columns = loop.shape[column_axis];
  problem.src_step = loop.strides[0][column_axis];
  problem.dst_step = loop.strides[1][row_axis];
  return problem;
}

// The side of a GPU's tile, and the number of its lines that a work-group moves at once.
constexpr std::int64_t tile_size = 32;
std::int64_t lines_of(const runtime::DeviceState& device) {
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(runtime::info_of(device).max_work_group) / tile_size, 1, 8);
}

template <class... More>
void launch_tiles(const Problem& p, const char* entry, const runtime::NdRange& range, More... more) {
  runtime::DeviceState& device = state_of(p.dst);
  const runtime::KernelSpec spec{
      "layout/transpose_copy.cl", entry, {{"VW", cpu_vector_width(device)}, {"LINES", lines_of(device)}}};
  runtime::launch(device, spec, range, in(p.src), out(p.dst), p.batch, p.src_batch, p.dst_batch,
                  std::int32_t{p.batch.rank()}, p.rows, p.columns, p.src_step, p.dst_step, more...);
}

const char* refuse_squares(const Problem&, const DeviceInfo& info) {
  return info.type == DeviceType::cpu ? nullptr : "squares in registers are for CPUs";
}

void run_squares(const Problem& problem) {
  const runtime::DeviceState& device = state_of(problem.dst);
  const std::int64_t width = cpu_vector_width(device), tiles = problem.tiles(4 * width, width);
  // A tile at the edge is copied element by element. The extra iterations find the position of the tile.
  const std::int64_t iterations = 4 * width * width + 64;
  const WorkSplit split =
      split_for_cpu(device, tiles, std::max<std::int64_t>(2048 / (width * width), 1), 1, iterations);
  launch_tiles(problem, "squares", {{split.items}, {1}}, tiles, split.chunk);
}

void run_tiles(const Problem& problem) {
  const std::int64_t lines = lines_of(state_of(problem.dst));
  launch_tiles(problem, "tiles", {{problem.tiles(tile_size, tile_size) * tile_size, lines}, {tile_size, lines}});
}

constexpr Variant<Problem> variants[] = {{"squares", refuse_squares, run_squares}, {"tiles", accept_all, run_tiles}};

}  // namespace

std::optional<Tensor> turned(const Tensor& x) {
  constexpr std::int64_t worth_it = 1 << 14;  // In elements; below, a launch costs more than scattered reads.
  if (x.numel() < worth_it || x.strides().back() == 1) return std::nullopt;
  Tensor copy = empty(x.shape(), x.dtype(), x.device());
  if (!transpose_copy(copy, x)) return std::nullopt;
  return copy;
}

bool transpose_copy(const Tensor& dst, const Tensor& src) {
  const std::optional<Problem> problem = as_transposes(dst, src);
  if (problem) choose("transpose_copy", variants, *problem, dst.device().info()).run(*problem);
  return problem.has_value();
}

}  // namespace crisol::ops
