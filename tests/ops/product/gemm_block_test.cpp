// The matrix product for GPUs: every tile in every layout, split_k, and the plan that is chosen for each device.
#include "ops/product/gemm_block.h"

#include <algorithm>
#include <cmath>

#include "doctest/doctest.h"
#include "ops/product/gemm_operands.h"
#include "reference/matmul.h"
#include "support/compare.h"
#include "support/skip.h"
#include "tensor/kernel_args.h"

namespace crisol {

namespace {

using ops::BlockPlan;
using ops::BlockTile;
using testing::check_close;
using testing::random_values;
using testing::tensor_of;

struct Case {
  std::int64_t m, n, k;
  int parts;
};

/// Sums of k products of at most 1. Each of the k additions has an error below eps / 2 of a partial sum below k.
testing::Tolerance tolerance(std::int64_t k) { return {2, static_cast<double>(k + 1)}; }

void check_tile(const BlockTile& tile, const Case& c, bool a_turned, bool b_turned) {
  const auto [m, n, k, parts] = c;
  CAPTURE(tile.rows);
  CAPTURE(tile.columns);
  CAPTURE(m);
  CAPTURE(n);
  CAPTURE(k);
  CAPTURE(parts);
  CAPTURE(a_turned);
  CAPTURE(b_turned);
  const testing::GemmValues values{m, n, k};
  std::vector<double> expected = reference::matmul(values.a, {m, k}, values.b, {k, n}).values;
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += values.bias[i % static_cast<std::size_t>(n)];
  const testing::GemmTensors tensors(values, a_turned, b_turned);
  const ops::Gemm problem = tensors.problem();
  const BlockPlan plan = ops::cut_blocks(tile, m, n, k, 1, parts);
  CHECK(plan.parts == parts);
  ops::run_gemm_block(problem, plan);
  check_close(tensors.y(), {m, n}, expected, tolerance(k));
  const std::vector<float> first = tensors.y().to_vector<float>();
  ops::run_gemm_block(problem, plan);
  CHECK(tensors.y().to_vector<float>() == first);
}

DeviceInfo gpu(int compute_units, std::uint64_t local_kib = 48, std::uint64_t group = 1024) {
  DeviceInfo info;
  info.type = DeviceType::gpu;
  info.vendor_id = 0x10de;
  info.compute_units = compute_units;
  info.local_memory = local_kib << 10;
  info.max_work_group = group;
  return info;
}

BlockPlan plan(const DeviceInfo& info, std::int64_t m, std::int64_t n, std::int64_t k, int vec = 4) {
  return ops::plan_blocks(info, m, n, k, 1, vec, 64);
}

}  // namespace

TEST_CASE("gemm block: every tile, sizes with and without remainders, both operands in either order") {
  const DeviceInfo& info = Device().info();
  // Compiling a program takes seconds on rusticl and oclgrind, two seconds on PoCL, half a second on Intel's runtime.
  const bool one = testing::slow_device() || info.platform == "rusticl";
  const bool few = one || info.platform == "Portable Computing Language";
  int ran = 0;
  for (const BlockTile& tile : ops::block_tiles()) {
    const std::int64_t rows = tile.rows, columns = tile.columns, edge = rows + columns;
    if (ops::refuse_tile(tile, info, 1) != nullptr || (one && edge != 64) || (few && edge != 64 && edge != 256))
      continue;
    const Case odd{rows + 3, columns + 5, 4 * tile.depth + 3, 1}, even{rows + 4, columns + 8, 3 * tile.depth + 4, 1};
    for (const Case& c : {odd, Case{1, 1, 1, 1}, Case{3, 5, 4, 1}, Case{rows / 2 + 1, 11, 17 * tile.depth + 1, 3}})
      check_tile(tile, c, false, false);
    if (!few || edge == 64) check_tile(tile, even, true, true);
    if (!few)
      for (const Case& c : {even, odd}) {
        check_tile(tile, c, false, true);
        check_tile(tile, c, true, false);
      }
    ++ran;
  }
  CHECK(ran > 0);
}

TEST_CASE("gemm block: large tiles for large products, skinny ones for few rows, cuts for deep ones") {
  const DeviceInfo a100 = gpu(108), gtx1660 = gpu(22);
  CHECK(plan(a100, 4096, 4096, 4096).tile.rows == 128);
  CHECK(plan(a100, 4096, 4096, 4096).tile.columns == 128);
  CHECK(plan(a100, 4096, 4096, 4096).parts == 1);
  CHECK(plan(a100, 4096, 4096, 4096).groups == 32 * 32);
  CHECK(plan(gtx1660, 1024, 1024, 1024).tile.rows >= 64);
  CHECK(plan(a100, 16, 4096, 4096).tile.rows == 16);
  CHECK(plan(a100, 32, 65536, 512).tile.rows <= 32);
  CHECK(plan(a100, 65536, 32, 512).tile.columns == 32);
  CHECK(plan(a100, 64, 64, 65536).parts > 4);
  CHECK(plan(a100, 4096, 4096, 64).parts == 1);
  CHECK(ops::plan_blocks(a100, 64, 64, 65536, 1, 4, 1).parts == 1);
  CHECK(plan(a100, 4096, 4096, 4096, 1).tile.items() < 256);
  DeviceInfo arc = gpu(512, 64);
  arc.vendor_id = 0x8086;
  for (const int vec : {1, 4}) {
    const BlockTile tile = plan(arc, 4096, 4096, 4096, vec).tile;
    CHECK(tile.item_rows * tile.item_columns <= 32);
  }
}

TEST_CASE("gemm block: plans keep to the device's local memory and work-groups, and cover the product") {
  for (const std::uint64_t local : {16, 32, 64})
    for (const std::uint64_t group : {64, 128, 256})
      for (const std::int64_t m : {1, 33, 500, 5000})
        for (const std::int64_t n : {1, 100, 3000})
          for (const std::int64_t k : {1, 70, 5000}) {
            const DeviceInfo info = gpu(40, local, group);
            const BlockPlan p = plan(info, m, n, k);
            CAPTURE(m);
            CAPTURE(n);
            CAPTURE(k);
            CHECK(ops::refuse_tile(p.tile, info, 4) == nullptr);
            CHECK(p.part_depth * p.parts >= k);
            CHECK(p.part_depth * (p.parts - 1) < k);
            CHECK((p.parts == 1 || p.part_depth % p.tile.depth == 0));
            CHECK(p.groups ==
                  (m + p.tile.rows - 1) / p.tile.rows * ((n + p.tile.columns - 1) / p.tile.columns) * p.parts);
          }
  CHECK(ops::refuse_blocks(gpu(1, 4)) != nullptr);
  CHECK(ops::refuse_blocks(gpu(1, 48, 32)) != nullptr);
}

TEST_CASE("gemm block: chosen on GPUs, on CPUs only where it is forced") {
  const Tensor x = ones({8, 8});
  const ops::Gemm problem{
      .device = state_of(x), .m = 8, .n = 8, .k = 8, .a = {in(x), 8, 1}, .b = {in(x), 8, 1}, .c = {out(x), 8, 1}};
  CHECK(ops::refuse_gemm_block(problem, gpu(108)) == nullptr);
  DeviceInfo cpu = gpu(8);
  cpu.type = DeviceType::cpu;
  CHECK(ops::refuse_gemm_block(problem, cpu) == std::string("made for GPUs"));
  const ops::ForcedVariant forced("matmul", "block");
  CHECK(ops::refuse_gemm_block(problem, cpu) == nullptr);
}

TEST_CASE("gemm clblast: leaves few results of great depth to products that cut the depth") {
  const Tensor x = ones({8, 8});
  ops::Gemm problem{.device = state_of(x),
                    .m = 8,
                    .n = 2,
                    .k = 66000,
                    .a = {in(x), 66000, 1},
                    .b = {in(x), 2, 1},
                    .c = {out(x), 2, 1}};
  const std::string reason = "few results of great depth, which it does not cut";
  const auto refusal = [&] {
    const char* text = ops::refuse_gemm_clblast(problem, gpu(108));
    return std::string(text == nullptr ? "" : text);
  };
  CHECK(refusal() == reason);
  problem.batch = 5000;
  CHECK(refusal() != reason);
  problem.batch = 1;
  problem.k = 500;
  problem.a = {in(x), 500, 1};
  CHECK(refusal() != reason);
}

}  // namespace crisol
