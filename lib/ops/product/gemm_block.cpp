// Matrix products on GPUs: gemm_block.cl, and gemm_parts.cl where the depth is cut.
#include "ops/product/gemm_block.h"

#include <string>
#include <vector>

#include "dispatch/gpu_variant.h"
#include "dispatch/persistent.h"
#include "ops/product/gemm_tiles.h"
#include "ops/product/tile_settings.h"

namespace crisol::ops {

namespace {

constexpr std::int64_t workspace_bytes = std::int64_t{256} << 20;  // Unless the limit is lower.

int vectors_of(const Gemm& p) {
  return side_of(p.a, p.m, p.k).vectors && side_of(p.b.transposed(), p.n, p.k).vectors ? 4 : 1;
}

BlockPlan plan_of(const Gemm& p, const DeviceInfo& info) {
  return plan_blocks(info, p.m, p.n, p.k, p.batch, vectors_of(p), most_parts(p));
}

// ---- Settings: every tile with 1, 2, 4, … parts ----

std::span<const std::string> setting_names() {
  static const std::vector<std::string> names = names_in_parts(tile_names(block_tiles()));
  return names;
}

const char* refuse_setting(const Gemm& problem, const DeviceInfo& info, std::size_t setting) {
  const Gemm p = with_rows_along(problem);
  const TileInParts with(setting);
  const BlockTile& tile = block_tiles()[with.tile];
  if (const char* reason = refuse_tile(tile, info, vectors_of(p))) return reason;
  if (const char* reason = refuse_parts(p, with.parts)) return reason;
  const BlockPlan plan = cut_blocks(tile, p.m, p.n, p.k, p.batch, with.parts);
  if (plan.parts != with.parts) return too_small_for_parts;
  return plan.groups > most_block_groups ? "too many tiles" : nullptr;
}

void run_setting(const Gemm& problem, std::size_t setting) {
  const Gemm p = with_rows_along(problem);
  const TileInParts with(setting);
  run_gemm_block(p, cut_blocks(block_tiles()[with.tile], p.m, p.n, p.k, p.batch, with.parts));
}

}  // namespace

const Settings<Gemm> block_settings{setting_names, refuse_setting, run_setting};

void define_block(runtime::Defines& defines, const DeviceInfo& info) {
  if (!info.fast_fma) defines.add({"NO_FMA", 1});
  if (takes_cpu_kernels(info)) defines.add({"ROLLED", 1});
}

bool reads_vectors(const Epilogue* epilogue, int count) {
  if (epilogue == nullptr) return true;
  for (std::size_t i = 0; i < epilogue->operand_count; ++i) {
    const EpilogueOperand& e = epilogue->operands[i];
    if (e.column == 0) continue;
    if (e.column != 1 || e.first.offset % count != 0 || e.row % count != 0 || e.batch % count != 0) return false;
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
  if (const char* reason = refuse_tiled_operands(problem)) return reason;
  if (problem.k / 8 > loop_budget(info)) return "too deep";
  return plan_of(with_rows_along(problem), info).groups > most_block_groups ? "too many tiles" : nullptr;
}

void run_gemm_block(const Gemm& problem) {
  const Gemm p = with_rows_along(problem);
  run_gemm_block(p, plan_of(p, runtime::info_of(p.device)));
}

void run_gemm_block(const Gemm& p, const BlockPlan& plan) {
  runtime::KernelSpec spec{"product/gemm_block.cl", "gemm_block"};
  plan.tile.define(spec.defines);
  launch_tiles(p, {plan.parts, plan.part_depth, plan.groups, {8, plan.tile.items() / 8}}, spec, 4);
}

}  // namespace crisol::ops
