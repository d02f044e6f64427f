// Matrix products on GPUs: gemm_block.cl, and gemm_parts.cl where the depth is cut.
#include "ops/gemm_block.h"

#include <limits>
#include <string>
#include <vector>

#include "ops/gemm_epilogue.h"
#include "ops/gpu_variant.h"
#include "ops/persistent.h"

namespace crisol::ops {

namespace {

constexpr std::int64_t most_step = std::int64_t{1} << 22;          // The kernel counts bytes of a tile in 32 bits.
constexpr std::int64_t workspace_bytes = std::int64_t{256} << 20;  // Unless the limit is lower.

// An operand as the kernel reads it: `sides` rows (of A; columns of B), `depth` deep.
struct Side {
  bool along_depth;
  std::int64_t step;
  bool vectors;  // Everything begins at multiples of four.
};

bool is_multiple(std::int64_t value) { return value % 4 == 0; }

Side side_of(const Matrix& matrix, std::int64_t sides, std::int64_t depth) {
  const auto side = [&](bool along_depth, std::int64_t step) {
    return Side{along_depth, step,
                is_multiple(along_depth ? depth : sides) && is_multiple(step) && is_multiple(matrix.batch) &&
                    matrix.first.offset % 4 == 0};
  };
  if (matrix.column != 1) return side(false, matrix.column);
  const Side deep = side(true, matrix.row);
  if (deep.vectors || matrix.row != 1) return deep;
  return side(false, matrix.column);
}

bool has_unit_stride(const Matrix& matrix) { return matrix.row == 1 || matrix.column == 1; }

bool has_small_step(const Side& side) { return side.step >= 0 && side.step <= most_step; }

int result_vectors(const Gemm& p) {
  const bool aligned = p.c.column == 1 && is_multiple(p.n) && is_multiple(p.c.row) && is_multiple(p.c.batch) &&
                       p.c.first.offset % 4 == 0;
  return aligned && reads_vectors(p.epilogue) ? 4 : 1;
}

// C transposed is B transposed times A transposed: then its rows lie one element after the other.
Gemm with_rows_along(const Gemm& p) {
  if (p.c.column == 1 || p.c.row != 1 || (p.epilogue != nullptr && !p.epilogue->empty())) return p;
  Gemm turned = p;
  std::swap(turned.m, turned.n);
  turned.a = p.b.transposed();
  turned.b = p.a.transposed();
  turned.c = p.c.transposed();
  turned.flags &= ~(bias_per_row | bias_per_column);
  if (p.flags & bias_per_row) turned.flags |= bias_per_column;
  if (p.flags & bias_per_column) turned.flags |= bias_per_row;
  return turned;
}

int most_parts(const Gemm& p) { return most_block_parts(4 * p.m * p.n * p.batch, 0); }

int vectors_of(const Gemm& p) {
  return side_of(p.a, p.m, p.k).vectors && side_of(p.b.transposed(), p.n, p.k).vectors ? 4 : 1;
}

BlockPlan plan_of(const Gemm& p, const DeviceInfo& info) {
  return plan_blocks(info, p.m, p.n, p.k, p.batch, vectors_of(p), most_parts(p));
}

// ---- Settings: every tile with 1, 2, 4, … parts ----

constexpr std::size_t part_counts = 7;

int parts_of(std::size_t setting) { return 1 << setting % part_counts; }
const BlockTile& tile_of(std::size_t setting) { return block_tiles()[setting / part_counts]; }

std::span<const std::string> setting_names() {
  static const std::vector<std::string> names = [] {
    const std::vector<std::string> tiles = tile_names(block_tiles());
    std::vector<std::string> made;
    for (std::size_t i = 0; i < block_tiles().size() * part_counts; ++i) {
      made.push_back(tiles[i / part_counts]);
      if (parts_of(i) > 1) made.back() += '/' + std::to_string(parts_of(i));
    }
    return made;
  }();
  return names;
}

const char* refuse_setting(const Gemm& problem, const DeviceInfo& info, std::size_t setting) {
  const Gemm p = with_rows_along(problem);
  const int parts = parts_of(setting);
  if (const char* reason = refuse_tile(tile_of(setting), info, vectors_of(p))) return reason;
  if (parts > 1 && parts > most_parts(p)) return "the sums of the parts would take too much memory";
  const BlockPlan plan = cut_blocks(tile_of(setting), p.m, p.n, p.k, p.batch, parts);
  if (plan.parts != parts) return "the depth is too small for so many parts";
  return plan.groups > most_block_groups ? "too many tiles" : nullptr;
}

void run_setting(const Gemm& problem, std::size_t setting) {
  const Gemm p = with_rows_along(problem);
  run_gemm_block(p, cut_blocks(tile_of(setting), p.m, p.n, p.k, p.batch, parts_of(setting)));
}

runtime::KernelSpec spec_of(const DeviceInfo& info, const char* file, const char* entry, const Epilogue* epilogue,
                            int result_vectors) {
  runtime::KernelSpec spec{file, entry, {{"VEC_C", result_vectors}}, epilogue_prelude(epilogue)};
  define_block(spec.defines, info);
  return spec;
}

}  // namespace

const Settings<Gemm> block_settings{setting_names, refuse_setting, run_setting};

void define_block(runtime::Defines& defines, const DeviceInfo& info) {
  if (!info.fast_fma) defines.add({"NO_FMA", 1});
  if (takes_cpu_kernels(info)) defines.add({"ROLLED", 1});
}

bool reads_vectors(const Epilogue* epilogue) {
  if (epilogue == nullptr) return true;
  for (std::size_t i = 0; i < epilogue->operand_count; ++i) {
    const EpilogueOperand& e = epilogue->operands[i];
    if (e.column == 0) continue;
    if (e.column != 1 || e.first.offset % 4 != 0 || !is_multiple(e.row) || !is_multiple(e.batch)) return false;
  }
  return true;
}

int most_block_parts(std::int64_t part_bytes, std::int64_t other_bytes) {
  int parts = static_cast<int>(std::min<std::int64_t>(workspace_bytes / part_bytes, 64));
  const auto bytes = [&] { return static_cast<std::uint64_t>(part_bytes * parts + other_bytes); };
  while (parts > 1 && refuse_workspace(bytes()) != nullptr) parts /= 2;
  return std::max(1, parts);
}

const char* refuse_gemm_block(const Gemm& problem, const DeviceInfo& info) {
  if (const char* reason = refuse_off_gpu("matmul", "block", info)) return reason;
  if (const char* reason = refuse_blocks(info)) return reason;
  if (problem.k == 0) return "the depth is 0";
  if (!has_unit_stride(problem.a) || !has_unit_stride(problem.b)) return "neither stride of an operand is 1";
  const Gemm p = with_rows_along(problem);
  if (!has_small_step(side_of(p.a, p.m, p.k)) || !has_small_step(side_of(p.b.transposed(), p.n, p.k)))
    return "the rows of an operand lie too far apart";
  if (p.k > std::numeric_limits<std::int32_t>::max() / 2 || p.k / 8 > loop_budget(info)) return "too deep";
  return plan_of(p, info).groups > most_block_groups ? "too many tiles" : nullptr;
}

void run_gemm_block(const Gemm& problem) {
  const Gemm p = with_rows_along(problem);
  run_gemm_block(p, plan_of(p, runtime::info_of(p.device)));
}

void run_gemm_block(const Gemm& p, const BlockPlan& plan) {
  const DeviceInfo& info = runtime::info_of(p.device);
  const Side a = side_of(p.a, p.m, p.k), b = side_of(p.b.transposed(), p.n, p.k);
  const bool cut = plan.parts > 1;
  const int stored = result_vectors(p);

  runtime::KernelSpec spec = spec_of(info, "gemm_block.cl", "gemm_block", cut ? nullptr : p.epilogue,
                                     cut ? (is_multiple(p.n) ? 4 : 1) : stored);
  spec.defines.add({"A_ALONG_K", a.along_depth ? 1 : 0});
  spec.defines.add({"B_ALONG_K", b.along_depth ? 1 : 0});
  spec.defines.add({"VEC", a.vectors && b.vectors ? 4 : 1});
  plan.tile.define(spec.defines);
  runtime::Kernel& multiply = runtime::resolve(p.device, spec);
  runtime::Kernel* const add =
      cut ? &runtime::resolve(p.device, spec_of(info, "gemm_parts.cl", "gemm_parts", p.epilogue, stored)) : nullptr;
  const std::int64_t size = p.m * p.n;
  const runtime::BlockPtr sums =
      cut ? runtime::allocate(p.device, static_cast<std::uint64_t>(4 * size * p.batch * plan.parts)) : nullptr;

  const EpilogueArguments e = epilogue_arguments(p.epilogue, p.a.first);
  const std::int32_t flags = p.flags | epilogue_flags(p.epilogue);
  const Matrix c = cut ? Matrix{{sums.get(), 0}, p.n, 1, size * plan.parts} : p.c;
  const std::int64_t rows = plan.tile.items() / 8;
  runtime::launch(p.device, multiply, {{plan.groups * 8, rows}, {8, rows}}, p.a.first, p.b.first, c.first, p.bias,
                  e.first, e.second, e.strides, e.scalars[0], e.scalars[1], e.scalars[2], p.m, p.n, p.k, p.a.batch,
                  a.step, p.b.batch, b.step, c.batch, c.row, c.column, size, plan.part_depth, plan.parts,
                  cut ? 0 : flags);
  if (!cut) return;
  runtime::launch(p.device, *add, runtime::flat_range(p.device, size * p.batch / stored), c.first, p.c.first, p.bias,
                  e.first, e.second, e.strides, e.scalars[0], e.scalars[1], e.scalars[2], p.m, p.n, p.batch, p.c.batch,
                  p.c.row, p.c.column, plan.parts, flags);
}

}  // namespace crisol::ops
