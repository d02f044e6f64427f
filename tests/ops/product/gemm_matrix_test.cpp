// Products on matrix units: the block-level kernel with the places of every unit, emulated, in every precision and
// layout. The tests also cover the choice for each device. They compare the places of the units' operands with models
// of the instructions.
#include <algorithm>
#include <cmath>
#include <string>

#include "crisol/ops/copy.h"
#include "crisol/ops/matmul.h"
#include "crisol/profile.h"
#include "doctest/doctest.h"
#include "ops/product/gemm_operands.h"
#include "ops/product/gpu/gemm_matrix_packed.h"
#include "ops/product/matrix_units.h"
#include "reference/matmul.h"
#include "support/compare.h"
#include "support/coverage.h"
#include "support/launches.h"
#include "support/skip.h"
#include "tensor/kernel_args.h"

namespace crisol {

namespace {

using ops::mma_engine;
using ops::TilePlan;
using ops::TileShape;
using testing::all_kinds;
using testing::check_close;
using testing::Kind;
using testing::min_tile;
using testing::random_values;
using testing::round_to;
using testing::target_of;
using testing::tensor_of;
using testing::unit_error;

struct Case {
  std::int64_t m, n, k;
  int split_k = 1;
  bool a_transposed = false, b_transposed = false;
  bool packed = false;
};

/// Computes a product of values with magnitudes from 0.1 to 1, which fp16 can hold. Compares it with the product in
/// double, within the precision's bound, and with the product of the rounded values, within fp32's bound.
void check_product(const TileShape& tile, Kind kind, bool emulated, Precision precision, const Case& c) {
  const auto [m, n, k, split_k, a_transposed, b_transposed, packed] = c;
  CAPTURE(dispatch::facts_of(kind).name);
  CAPTURE(precision);
  CAPTURE(tile.rows);
  CAPTURE(m);
  CAPTURE(n);
  CAPTURE(k);
  CAPTURE(split_k);
  CAPTURE(a_transposed);
  CAPTURE(b_transposed);
  CAPTURE(packed);
  testing::GemmValues values{m, n, k};
  for (std::vector<double>* operand : {&values.a, &values.b}) *operand = testing::away_from_zero(*operand);
  const testing::GemmTensors tensors(values, a_transposed, b_transposed);
  const ops::Gemm product = tensors.product();
  const dispatch::MatrixUnit unit{kind, emulated};
  if (packed) {
    ops::GemmProblem problem = ops::problem_of(product);
    problem.context = testing::context_of(precision);
    dispatch::Target target = dispatch::target_of(product.device);
    target.units.fill(unit);
    testing::run_plan(ops::packed_product(problem, target, tile), product);
  } else {
    testing::run_tiled(product, mma_engine(unit, precision), tile, split_k);
  }
  testing::RoundedSums sums;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const double added = double{static_cast<float>(values.bias[static_cast<std::size_t>(j)])};
      double sum = added, size = std::abs(added), of_rounded = added;
      for (std::int64_t at = 0; at < k; ++at) {
        const double x = static_cast<float>(values.a[static_cast<std::size_t>(i * k + at)]);
        const double z = static_cast<float>(values.b[static_cast<std::size_t>(at * n + j)]);
        sum += x * z;
        size += std::abs(x * z);
        of_rounded += round_to(x, precision) * round_to(z, precision);
      }
      sums.exact.push_back(sum);
      sums.sizes.push_back(size);
      sums.of_rounded.push_back(of_rounded);
    }
  testing::check_rounded(tensors.y().to_vector<float>(), sums, precision, k);
}

ops::GemmProblem problem_of(std::int64_t m, std::int64_t n, std::int64_t k, Precision precision) {
  return testing::contiguous_problem(m, n, k, testing::context_of(precision));
}

// The tiles do not depend on the precision.
std::span<const TileShape> tiles_of(Kind kind) { return mma_engine({kind, false}, Precision::fp16).tiles(); }

}  // namespace

// Programs take seconds to compile on CPUs, so sizes share them. With odd rows no vectors are read or stored.
TEST_CASE("gemm matrix: every precision within its bound") {
  for (const Precision precision : testing::rounded_precisions) {
    check_product(min_tile, Kind::mma_sm80, true, precision, {3, 5, 7});
    check_product(min_tile, Kind::mma_sm80, true, precision, {35, 17, 101});
  }
}

TEST_CASE("gemm matrix: operands in either order, aligned and not, cut depths") {
  if (testing::slow_launches()) CRISOL_SKIP("four programs take half a minute to compile");
  check_product(min_tile, Kind::mma_sm80, true, Precision::fp16, {36, 20, 68, 1, true, true});
  check_product(min_tile, Kind::mma_sm80, true, Precision::fp16, {68, 36, 4, 1, true, true});
  check_product(min_tile, Kind::mma_sm80, true, Precision::fp16, {9, 11, 545, 3, true, false});
  check_product(min_tile, Kind::mma_sm80, true, Precision::tf32, {36, 20, 52, 1, true, true});
}

TEST_CASE("gemm matrix: every tile, and the places of every unit's results") {
  const DeviceInfo& info = Device().info();
  if (info.platform != "Intel(R) OpenCL") CRISOL_SKIP("a dozen programs, which Intel's runtime compiles the soonest");
  for (const Kind kind : all_kinds) {
    const auto tiles = tiles_of(kind);
    check_product(tiles.back(), kind, true, Precision::fp16, {tiles.back().rows + 4, tiles.back().columns + 8, 36});
  }
  for (const TileShape& tile : tiles_of(Kind::mma_sm80))
    check_product(tile, Kind::mma_sm80, true, Precision::bf16, {tile.rows + 3, tile.columns - 2, 33});
}

TEST_CASE("gemm matrix: on this device's own units") {
  int ran = 0;
  for (const Precision precision : testing::rounded_precisions) {
    const ops::MatrixUnits units = ops::matrix_units(Device(), precision);
    if (units.unit.empty()) continue;
    const Kind kind = dispatch::matrix_unit_named(units.unit);
    for (const TileShape& tile : tiles_of(kind)) {
      check_product(tile, kind, false, precision, {tile.rows + 4, tile.columns + 8, 100});
      check_product(tile, kind, false, precision, {tile.rows + 3, tile.columns + 5, 67, 1, true, true});
      check_product(tile, kind, false, precision, {tile.rows + 3, tile.columns + 5, 1067, 3, true, false});
    }
    for (const bool transposed : {false, true})
      if (!dispatch::facts_of(kind).waves_share_registers)
        check_product({128, 128, 64, 64, 1.0}, kind, false, precision,
                      {140, 252, 300, 1, transposed, transposed, true});
    ++ran;
  }
  if (ran == 0) CRISOL_SKIP("vendors' instructions: " + ops::matrix_units(Device(), Precision::fp16).reason);
}

TEST_CASE("gemm matrix: what is too large for fp16 becomes infinite, NaN and infinity stay") {
  if (const std::string reason = testing::broken_matrix_units(); !reason.empty()) CRISOL_SKIP(reason);
  const testing::MustRun must("matmul", {"matrix"});
  const ForcedVariant forced("matmul", "matrix");
  for (const Precision precision : testing::rounded_precisions) {
    if (testing::slow_launches() && precision != Precision::fp16) continue;
    CAPTURE(precision);
    const WithPrecision same(precision);
    const Tensor left = tensor_of({1e5, INFINITY, NAN, -1e5}, {4, 1}), right = tensor_of({2.0}, {1, 1});
    const std::vector<float> y = ops::matmul(left, right).to_vector<float>();
    if (precision == Precision::fp16) {
      CHECK(y[0] == INFINITY);
      CHECK(y[3] == -INFINITY);
    } else {
      CHECK(y[0] == doctest::Approx(2e5).epsilon(unit_error(precision)));
      CHECK(y[3] == doctest::Approx(-2e5).epsilon(unit_error(precision)));
    }
    CHECK(y[1] == INFINITY);
    CHECK(std::isnan(y[2]));
  }
}

TEST_CASE("gemm matrix: packed operands, in three stages and two, of waves of 32 and 64") {
  // More slices than local memory holds; the last slice is not full. Both operands have the same layout, so that they
  // share a program.
  const auto check = [](Kind kind, Precision precision, const Case& c) {
    check_product({32, 32, dispatch::facts_of(kind).lanes == 64 ? 32 : 16, 16, 1.0}, kind, true, precision, c);
  };
  check(Kind::mfma, Precision::fp16, {5, 27, 103, 1, false, true, true});
  if (Device().info().platform != "Intel(R) OpenCL") return;  // Other platforms take ten times as long to compile.
  check(Kind::mma_sm80, Precision::fp16, {5, 27, 103, 1, true, false, true});
  check(Kind::wmma, Precision::bf16, {35, 30, 72, 1, false, true, true});
  check(Kind::mfma, Precision::tf32, {36, 20, 52, 1, true, false, true});
}

TEST_CASE("gemm matrix: forced with packed operands") {
  if (const std::string reason = testing::broken_matrix_units(); !reason.empty()) CRISOL_SKIP(reason);
  if (testing::slow_launches()) CRISOL_SKIP("three programs with large tiles take a minute to compile");
  const std::int64_t m = 5, n = 135, k = 39;
  std::vector<double> a = random_values(1, m * k), b = random_values(2, k * n);
  for (std::vector<double>* values : {&a, &b})
    for (double& value : *values) value = round_to(static_cast<float>(value), Precision::bf16);
  const reference::Product expected = reference::matmul(a, {m, k}, b, {k, n});
  const WithPrecision rounded_to(Precision::bf16);
  // A true unit multiplies packed operands only in products that are large enough for packing to pay.
  const bool is_emulated = ops::matrix_units(Device(), Precision::bf16).unit.empty();
  testing::for_each_variant(testing::MustRun("matmul", {testing::where(is_emulated, "matrix_packed")}), [&] {
    check_close(ops::matmul(tensor_of(a, {m, k}), tensor_of(b, {k, n})), expected.shape, expected.values,
                {2, static_cast<double>(k + 1)});
    // Operands and results of f16 give the bits of f32, rounded once.
    const Tensor left = tensor_of(a, {m, k}, DType::f16), right = tensor_of(b, {k, n}, DType::f16);
    CHECK(reference::values_of(ops::matmul(left, right)) ==
          reference::values_of(ops::matmul(left.to(DType::f32), right.to(DType::f32)).to(DType::f16)));
  });
}

TEST_CASE("gemm matrix: the packed copy of a weight is kept from the second use on, until the weight is written") {
  if (const std::string reason = testing::broken_matrix_units(); !reason.empty()) CRISOL_SKIP(reason);
  if (testing::slow_launches()) CRISOL_SKIP("two programs with large tiles take a minute to compile");
  if (!ops::matrix_units(Device(), Precision::bf16).unit.empty())
    CRISOL_SKIP("a true unit packs the operands of large products alone");
  const std::int64_t m = 5, n = 135, k = 39;
  std::vector<double> a = random_values(1, m * k), b = random_values(2, n * k);
  for (std::vector<double>* values : {&a, &b})
    for (double& value : *values) value = round_to(static_cast<float>(value), Precision::bf16);
  const WithPrecision rounded_to(Precision::bf16);
  const testing::MustRun must("matmul", {"matrix_packed"});
  const ForcedVariant forced("matmul", "matrix_packed");
  const Tensor x = tensor_of(a, {m, k}), weight = tensor_of(b, {n, k});
  const auto check = [&](std::int64_t launches) {
    const reference::Product expected = reference::linear(a, {m, k}, b, {n, k}, {});
    Tensor y;
    CHECK(testing::launches_of([&] { y = ops::linear(x, weight, Tensor()); }) == launches);
    check_close(y, expected.shape, expected.values, {2, static_cast<double>(k + 1)});
  };
  const std::int64_t packs_both = 3, packs_x = 2;
  check(packs_both);
  check(packs_both);
  // On CPUs the op asks for the copy that their tiles need, and for this copy only where that one is worth keeping.
  if (dispatch::target_of(Device().state()).takes_cpu_kernels()) check(packs_both);
  check(packs_x);
  for (double& value : b) value = -value;
  ops::copy_into(weight, tensor_of(b, {n, k}));
  check(packs_both);
}

TEST_CASE("gemm matrix: packed where packing pays") {
  NEEDS_OWN_CHOICES();
  const DeviceInfo info = testing::imagined("NVIDIA CUDA", "NVIDIA A100", 108);
  const auto reason = [&](std::int64_t m, std::int64_t n, std::int64_t k, Kind kind = Kind::mma_sm80) {
    return testing::reason_of(ops::plan_gemm_matrix_packed(problem_of(m, n, k, Precision::fp16), target_of(info, kind),
                                                           dispatch::own_config));
  };
  testing::state_choice("matmul", "matrix_packed");
  const ops::GemmProblem large = problem_of(4096, 4096, 4096, Precision::fp16);
  CHECK(ops::choose_gemm(large, target_of(info, Kind::mma_sm80)).variant == "matrix_packed");
  CHECK(reason(4096, 4096, 4096).empty());
  CHECK(reason(1024, 1024, 1024) == "too small for packing to pay");  // 64 tiles for 108 units.
  CHECK(reason(128, 65536, 4096) == "too small for packing to pay");
  CHECK(reason(4096, 4096, 64) == "too small for packing to pay");
  for (const Kind kind : {Kind::mma_sm75, Kind::mfma, Kind::wmma, Kind::wmma_gfx12})
    CHECK(reason(4096, 4096, 4096, kind).empty());
  CHECK(reason(4096, 4096, 4096, Kind::xmx8) == "the device has too few registers for its tile");
  CHECK(ops::packed_product(problem_of(100, 300, 33, Precision::fp16), target_of(info, Kind::mma_sm80),
                            {128, 128, 64, 64, 1.0})
            .workspace_bytes() == 2 * (128 + 384) * 64);
}

TEST_CASE("gemm matrix: configurations are the tiles of the unit, in parts that the depth has room for") {
  const DeviceInfo info = testing::imagined("NVIDIA CUDA", "NVIDIA A100", 108);
  const auto names = ops::matrix_configs();
  const auto reason = [&](Kind kind, const std::string& name, std::int64_t k) {
    const auto config = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    REQUIRE(config < names.size());
    return testing::reason_of(
        ops::plan_gemm_matrix(problem_of(500, 300, k, Precision::fp16), target_of(info, kind), config));
  };
  for (const Kind kind : all_kinds)
    for (const TileShape& tile : tiles_of(kind)) {
      const std::string name = std::to_string(tile.rows) + 'x' + std::to_string(tile.columns);
      CHECK(reason(kind, name, 40).empty());
      CHECK(reason(kind, name + "/4", 1024).empty());
      CHECK(reason(kind, name + "/4", 40) == "the depth is too small for so many parts");
    }
  CHECK(reason(Kind::xmx8, "128x128", 40) == "the unit has no such tile");
}

TEST_CASE("gemm matrix: a forced configuration") {
  if (Device().info().platform != "Intel(R) OpenCL")
    CRISOL_SKIP("a program, which Intel's runtime compiles the soonest");
  const std::int64_t m = 35, n = 9, k = 300;
  std::vector<double> a = random_values(1, m * k), b = random_values(2, k * n);
  for (std::vector<double>* values : {&a, &b})
    for (double& value : *values) value = round_to(static_cast<float>(value), Precision::bf16);
  const testing::MustRun must("matmul", {"matrix"});
  const ForcedVariant forced("matmul", "matrix/128x32/2");
  const WithPrecision rounded_to(Precision::bf16);
  const VariantLog log;
  const reference::Product expected = reference::matmul(a, {m, k}, b, {k, n});
  check_close(ops::matmul(tensor_of(a, {m, k}), tensor_of(b, {k, n})), expected.shape, expected.values,
              {2, static_cast<double>(k + 1)});
  REQUIRE(!log.choices().empty());
  CHECK(log.choices()[0].variant == "matrix/128x32/2");
}

TEST_CASE("gemm matrix: chosen where the precision allows and the device can, refused with the reason elsewhere") {
  NEEDS_OWN_CHOICES();
  const DeviceInfo a100 = testing::imagined("NVIDIA CUDA", "NVIDIA A100");
  const auto reason = [&](const ops::GemmProblem& problem, Kind kind = Kind::mma_sm80) {
    return testing::reason_of(ops::plan_gemm_matrix(problem, target_of(a100, kind), dispatch::own_config));
  };
  testing::state_choice("matmul", "matrix");
  const ops::GemmProblem least = problem_of(8, 8, 8, Precision::fp16);
  CHECK(ops::choose_gemm(least, target_of(a100, Kind::mma_sm80)).variant == "matrix");
  CHECK(reason(least).empty());
  CHECK(reason(problem_of(8, 8, 8, Precision::fp32)) == "the precision is fp32");
  CHECK(reason(problem_of(8, 8, 8, Precision::tf32), Kind::none) == "the device has no matrix units for the precision");
  CHECK(reason(problem_of(8, 8, 0, Precision::fp16)) == "the depth is 0");
}

TEST_CASE("gemm matrix: an emulated unit is planned, and taken only where the variant is forced") {
  NEEDS_OWN_CHOICES();
  const DeviceInfo info = testing::imagined("nobody", "a GPU without matrix units");
  dispatch::Target target = target_of(info);
  target.units.fill({Kind::mma_sm80, true});
  const ops::GemmProblem problem = problem_of(70, 50, 90, Precision::fp16);
  CHECK(ops::choose_gemm(problem, target).variant == "block");
  for (const TuningCandidate& candidate : describe(ops::gemm_table, &problem, target).candidates)
    if (candidate.variant.starts_with("matrix"))
      CHECK(candidate.refusal == "the device has no matrix units for the precision");
  for (const char* name : {"matrix", "matrix/64x64", "matrix_packed"}) {
    const ForcedVariant forced("matmul", name);
    CHECK(ops::choose_gemm(problem, target).variant == name);
  }
}

TEST_CASE("gemm matrix: large tiles for large products, skinny ones for few rows, cuts for deep ones") {
  const DeviceInfo info = testing::imagined("NVIDIA CUDA", "NVIDIA A100", 108);
  const auto plan = [&](std::int64_t m, std::int64_t n, std::int64_t k, Kind kind = Kind::mma_sm80) {
    return ops::plan_tiles(mma_engine({kind, false}, Precision::fp16), target_of(info), {m, n, k}, 1, 64);
  };
  CHECK(plan(4096, 4096, 4096).tile.rows == 128);
  CHECK(plan(4096, 4096, 4096).groups == 1024);
  CHECK(plan(16, 65536, 4096).tile.rows == 32);
  CHECK(plan(65536, 32, 4096).tile.columns == 32);
  CHECK(plan(64, 64, 65536).split_k > 4);
  CHECK(plan(4096, 4096, 64).split_k == 1);
  for (const Kind kind : all_kinds)
    for (const std::int64_t k : {1, 70, 5000}) {
      const TilePlan p = plan(500, 100, k, kind);
      CHECK(p.part_depth * p.split_k >= k);
      CHECK(p.part_depth * (p.split_k - 1) < k);
      CHECK(p.groups ==
            (500 + p.tile.rows - 1) / p.tile.rows * ((100 + p.tile.columns - 1) / p.tile.columns) * p.split_k);
    }
}

}  // namespace crisol
