// The matrix product for GPUs: every tile in every layout, split_k, and the plan that is chosen for each device.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "doctest/doctest.h"
#include "ops/product/gemm_operands.h"
#include "reference/matmul.h"
#include "support/compare.h"
#include "support/forced.h"
#include "support/skip.h"
#include "tensor/kernel_args.h"

namespace crisol {

namespace {

using dispatch::Target;
using ops::fma_engine;
using ops::TilePlan;
using ops::TileShape;
using testing::check_close;
using testing::random_values;
using testing::target_of;
using testing::tensor_of;

struct Case {
  std::int64_t m, n, k;
  int split_k;
};

/// Sums of k products of at most 1. Each of the k additions has an error below eps / 2 of a partial sum below k.
testing::Tolerance tolerance(std::int64_t k) { return {2, static_cast<double>(k + 1)}; }

void check_tile(const TileShape& tile, const Case& c, bool a_transposed, bool b_transposed) {
  const auto [m, n, k, split_k] = c;
  CAPTURE(tile.rows);
  CAPTURE(tile.columns);
  CAPTURE(m);
  CAPTURE(n);
  CAPTURE(k);
  CAPTURE(split_k);
  CAPTURE(a_transposed);
  CAPTURE(b_transposed);
  const testing::GemmValues values{m, n, k};
  std::vector<double> expected = reference::matmul(values.a, {m, k}, values.b, {k, n}).values;
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += values.bias[i % static_cast<std::size_t>(n)];
  const testing::GemmTensors tensors(values, a_transposed, b_transposed);
  const ops::Gemm product = tensors.product();
  testing::run_tiled(product, fma_engine(), tile, split_k);
  check_close(tensors.y(), {m, n}, expected, tolerance(k));
  const std::vector<float> first = tensors.y().to_vector<float>();
  testing::run_tiled(product, fma_engine(), tile, split_k);
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

TilePlan plan(const DeviceInfo& info, std::int64_t m, std::int64_t n, std::int64_t k, int vectors = 4,
              int max_split_k = 64) {
  return ops::plan_tiles(fma_engine(), target_of(info), {m, n, k}, vectors, max_split_k);
}

}  // namespace

TEST_CASE("gemm block: every tile, sizes with and without remainders, both operands in either order") {
  const DeviceInfo& info = Device().info();
  // Compiling a program takes seconds on rusticl and oclgrind, two seconds on PoCL, half a second on Intel's runtime.
  const bool one = testing::slow_device() || info.platform == "rusticl";
  const bool few = one || info.platform == "Portable Computing Language";
  int ran = 0;
  for (const TileShape& tile : fma_engine().tiles()) {
    const std::int64_t rows = tile.rows, columns = tile.columns, edge = rows + columns;
    if (fma_engine().against_tile(tile, target_of(info), 1) != nullptr || (one && edge != 64) ||
        (few && edge != 64 && edge != 256))
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
  CHECK(plan(a100, 4096, 4096, 4096).split_k == 1);
  CHECK(plan(a100, 4096, 4096, 4096).groups == 32 * 32);
  CHECK(plan(gtx1660, 1024, 1024, 1024).tile.rows >= 64);
  CHECK(plan(a100, 16, 4096, 4096).tile.rows == 16);
  CHECK(plan(a100, 32, 65536, 512).tile.rows <= 32);
  CHECK(plan(a100, 65536, 32, 512).tile.columns == 32);
  CHECK(plan(a100, 64, 64, 65536).split_k > 4);
  CHECK(plan(a100, 4096, 4096, 64).split_k == 1);
  CHECK(plan(a100, 64, 64, 65536, 4, 1).split_k == 1);
  CHECK(plan(a100, 4096, 4096, 4096, 1).tile.parts() < 256);
  DeviceInfo arc = gpu(512, 64);
  arc.vendor_id = 0x8086;
  for (const int vectors : {1, 4}) {
    const TileShape tile = plan(arc, 4096, 4096, 4096, vectors).tile;
    CHECK(tile.part_rows * tile.part_columns <= 32);
  }
}

TEST_CASE("gemm block: plans keep to the device's local memory and work-groups, and cover the product") {
  for (const std::uint64_t local : {16, 32, 64})
    for (const std::uint64_t group : {64, 128, 256})
      for (const std::int64_t m : {1, 33, 500, 5000})
        for (const std::int64_t n : {1, 100, 3000})
          for (const std::int64_t k : {1, 70, 5000}) {
            const DeviceInfo info = gpu(40, local, group);
            const TilePlan p = plan(info, m, n, k);
            CAPTURE(m);
            CAPTURE(n);
            CAPTURE(k);
            CHECK(fma_engine().against_tile(p.tile, target_of(info), 4) == nullptr);
            CHECK(p.part_depth * p.split_k >= k);
            CHECK(p.part_depth * (p.split_k - 1) < k);
            CHECK((p.split_k == 1 || p.part_depth % p.tile.depth == 0));
            CHECK(p.groups ==
                  (m + p.tile.rows - 1) / p.tile.rows * ((n + p.tile.columns - 1) / p.tile.columns) * p.split_k);
          }
  const DeviceInfo small_memory = gpu(1, 4), small_groups = gpu(1, 48, 32);
  CHECK(ops::against_tiles(fma_engine(), target_of(small_memory)) != nullptr);
  CHECK(ops::against_tiles(fma_engine(), target_of(small_groups)) != nullptr);
}

TEST_CASE("gemm block: chosen on GPUs, on CPUs only where it is forced") {
  const ops::GemmProblem problem = testing::contiguous_problem(8, 8, 8);
  const auto reason_on = [&](const DeviceInfo& info) {
    for (const TuningCandidate& candidate : describe(ops::gemm_table, &problem, target_of(info)).candidates)
      if (candidate.variant == "block") return candidate.refusal;
    return std::string("there is no such variant");
  };
  DeviceInfo cpu = gpu(8);
  cpu.type = DeviceType::cpu;
  CHECK(reason_on(gpu(108)).empty());
  CHECK(reason_on(cpu) == "made for GPUs");
  const ForcedVariant forced("matmul", "block");
  CHECK(ops::choose_gemm(problem, target_of(cpu)).variant == "block");
}

TEST_CASE("gemm: operands of half precision are read as they are stored") {
  const std::int64_t m = 37, n = 20, k = 41;
  // Multiples of 1/8, whose products and sums are exact.
  std::vector<double> a = testing::random_integers(1, m * k, -8, 8), b = testing::random_integers(2, k * n, -8, 8);
  for (std::vector<double>* const values : {&a, &b})
    for (double& value : *values) value /= 8;
  const std::vector<double> expected = reference::matmul(a, {m, k}, b, {k, n}).values;
  std::map<std::string, int> runs;
  for (const std::string variant : {"block", "plain", "cpu_tiled", "cpu_dot", "cpu_skinny"})
    for (int form = 4; form < 16; ++form) {
      CAPTURE(variant);
      CAPTURE(form);
      const bool is_transposed_a = (form & 1) != 0, is_transposed_b = (form & 2) != 0;
      const DType a_type = (form & 4) != 0 ? DType::f16 : DType::f32,
                  b_type = (form & 8) != 0 ? DType::f16 : DType::f32;
      const std::int64_t rows = variant == "cpu_skinny" ? 5 : m;
      const Tensor first = tensor_of(a, {m, k}, a_type).narrow(0, 0, rows), second = tensor_of(b, {k, n}, b_type);
      const Tensor left = is_transposed_a ? first.transpose(0, 1).contiguous().transpose(0, 1) : first,
                   right = is_transposed_b ? second.transpose(0, 1).contiguous().transpose(0, 1) : second;
      const Tensor y = full({rows, n}, NAN);
      ops::Gemm product{.device = state_of(y),
                        .m = rows,
                        .n = n,
                        .k = k,
                        .a = {in(left), left.strides()[0], left.strides()[1], 0, a_type},
                        .b = {in(right), right.strides()[0], right.strides()[1], 0, b_type},
                        .c = {out(y), n, 1}};
      if (variant == "cpu_skinny") product.b_storage = right.impl()->storage.get();
      if (!testing::run_variant("matmul", variant, [&] { ops::gemm(product); })) continue;
      ++runs[variant];
      check_close(y, {rows, n}, {expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(rows * n)}, {0});
    }
  CHECK(runs["plain"] == 12);
  CHECK(runs["block"] == 12);
  if (dispatch::target_of(state_of(zeros({1}))).takes_cpu_kernels()) {
    CHECK(runs["cpu_tiled"] == 12);
    CHECK(runs["cpu_dot"] == 1);
    CHECK(runs["cpu_skinny"] == 12);
  }
  ops::GemmProblem problem = testing::contiguous_problem(64, 64, 64);
  const std::string key = problem.key().text("matmul");
  problem.b.type = static_cast<std::int64_t>(DType::f16);
  CHECK(problem.key().text("matmul") == key + " types=1");
  for (const TuningCandidate& candidate : describe(ops::gemm_table, &problem, target_of(gpu(108))).candidates)
    if (candidate.variant == "clblast") CHECK(candidate.refusal == "it takes f32 alone");
  DeviceInfo cpu = gpu(8);
  cpu.type = DeviceType::cpu;
  CHECK(ops::choose_gemm(problem, target_of(cpu)).variant == "cpu_tiled");
  problem.c.type = problem.b.type;
  CHECK(problem.key().text("matmul") == key + " types=65537");
}

TEST_CASE("gemm: results of half precision are rounded once, after bias and epilogue") {
  std::map<std::string, int> runs;
  for (const std::int64_t k : {41, 1201})  // CPUs cut the second depth into blocks.
    for (const std::int64_t m : {37, 5}) {
      const std::int64_t n = 20;
      const auto eighths = [](std::uint64_t seed, std::int64_t count) {
        std::vector<double> values = testing::random_integers(seed, count, -8, 8);
        for (double& value : values) value /= 8;
        return values;
      };
      const std::vector<double> a = eighths(1, m * k), b = eighths(2, k * n), old = eighths(3, m * n),
                                by_row = eighths(4, m), by_column = eighths(5, n);
      const std::vector<double> sums = reference::matmul(a, {m, k}, b, {k, n}).values;
      const Tensor left = tensor_of(a, {m, k}, DType::f16),
                   right = tensor_of(b, {k, n}, DType::f16).transpose(0, 1).contiguous().transpose(0, 1),
                   rows = tensor_of(by_row, {m}, DType::f16), columns = tensor_of(by_column, {n}, DType::f16);
      ops::ProductEpilogue f;
      f.layout.function = ops::EpilogueLayout::Function::add_relu;
      f.layout.operand_count = 1;
      f.layout.operands[0] = {n, 1};
      f.operands[0] = tensor_of(old, {m, n}, DType::f16);
      for (const int form : {0, 1, 2, 3}) {
        std::vector<double> expected = sums;
        for (std::size_t i = 0; i < expected.size(); ++i) {
          const std::size_t row = i / static_cast<std::size_t>(n), column = i % static_cast<std::size_t>(n);
          if (form == 1) expected[i] += old[i] + by_column[column];
          if (form == 2) expected[i] = std::max(0.0, expected[i] + by_row[row] + old[i]);
        }
        expected = reference::values_of(tensor_of(expected, {m, n}, DType::f16));
        const auto check = [&](const std::string& variant, const auto& run) {
          CAPTURE(variant);
          CAPTURE(form);
          CAPTURE(m);
          CAPTURE(k);
          const Tensor stored = form == 3 ? full({n, m}, NAN, DType::f16) : tensor_of(old, {m, n}, DType::f16);
          const Tensor y = form == 3 ? stored.transpose(0, 1) : stored;
          ops::Gemm product{.device = state_of(y),
                            .m = m,
                            .n = n,
                            .k = k,
                            .a = {in(left), k, 1, 0, DType::f16},
                            .b = {in(right), 1, k, 0, DType::f16},
                            .c = {out(y), y.strides()[0], y.strides()[1], 0, DType::f16}};
          if (form == 1) product.flags = ops::add_to_c | ops::bias_per_column, product.bias = in(columns);
          if (form == 2) product.flags = ops::bias_per_row, product.bias = in(rows), product.epilogue = &f;
          if (variant == "cpu_skinny") product.b_storage = right.impl()->storage.get();
          if (!run(product)) return;
          ++runs[variant];
          check_close(y, {m, n}, expected, {0});
        };
        for (const std::string variant : {"block", "plain", "cpu_tiled", "cpu_dot", "cpu_skinny"})
          check(variant, [&](const ops::Gemm& product) {
            return testing::run_variant("matmul", variant, [&] { ops::gemm(product); });
          });
        check("parts", [&](const ops::Gemm& product) {
          testing::run_tiled(product, fma_engine(), fma_engine().tiles().back(), k > 1000 ? 2 : 1);
          return true;
        });
      }
    }
  CHECK(runs["plain"] == 16);
  CHECK(runs["block"] == 16);
  CHECK(runs["parts"] == 16);
  if (dispatch::target_of(state_of(zeros({1}))).takes_cpu_kernels()) {
    CHECK(runs["cpu_tiled"] == 16);
    CHECK(runs["cpu_dot"] == 16);
    CHECK(runs["cpu_skinny"] == 6);
  }
}

}  // namespace crisol
