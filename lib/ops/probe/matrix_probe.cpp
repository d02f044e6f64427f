// Which matrix units a device has. At the first use of a driver, a kernel is compiled for one candidate after another,
// until one gives the right numbers. The outcome is stored on disk.
#include "ops/probe/matrix_probe.h"

#include "base/text.h"
#include "crisol/ops/matmul.h"
#include "dispatch/target.h"
#include "ops/probe/device_probe.h"
#include "ops/product/gpu/gemm_tiled.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

using Kind = dispatch::MatrixUnit::Kind;
using dispatch::ProbeOutcome;

// Eighths from -7.5 to 7.5. Every precision holds these numbers, and fp32 holds the sums of their products.
std::vector<float> eighths(std::int64_t count, std::uint32_t seed) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(static_cast<int>(seed >> 24) % 121 - 60) / 8.0f;
  }
  return values;
}

// Tests a product with the kernel of the largest tile. The product is larger than a tile, and not a multiple of it.
bool multiplies_rightly(Device device, Precision precision, Kind kind) {
  const std::int64_t m = 132, n = 140, k = 100;
  const std::vector<float> a = eighths(m * k, 1), b = eighths(k * n, 2);
  const Tensor left = from_bytes(a.data(), {m, k}, DType::f32, device),
               right = from_bytes(b.data(), {k, n}, DType::f32, device);
  const Tensor y = zeros({m, n}, DType::f32, device);
  const Gemm product{.device = device.state(),
                     .m = m,
                     .n = n,
                     .k = k,
                     .a = {in(left), k, 1},
                     .b = {in(right), n, 1},
                     .c = {out(y), n, 1}};
  const Engine& engine = mma_engine({kind, false}, precision);
  const PlacedGemm placed = as_row_major(problem_of(product));
  dispatch::Plan plan;
  add_tiled_product(plan, dispatch::target_of(product.device), engine,
                    cut_tiles(engine, engine.tiles().front(), placed.extent(), 1), placed);
  launch_gemm(*dispatch::prepare(std::move(plan), product.device), product, product.b.first);
  const std::vector<float> found = y.to_vector<float>();
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t at = 0; at < k; ++at)
        sum += double{a[static_cast<std::size_t>(i * k + at)]} * double{b[static_cast<std::size_t>(at * n + j)]};
      if (double{found[static_cast<std::size_t>(i * n + j)]} != sum) return false;
    }
  return true;
}

Probed probe(Device device, Precision precision, const std::vector<Kind>& candidates) {
  Probed all{{"none", ""}};
  for (const Kind kind : candidates) {
    Probed one = probe_one(facts_of(kind).name, [&] { return multiplies_rightly(device, precision, kind); });
    if (one.outcome.found != "none") return one;
    all = {std::move(one.outcome), all.lasting && one.lasting};
  }
  return all;
}

ProbeOutcome known_unit(runtime::DeviceState& device, Precision precision) {
  return probe_outcome(device, concat("matrix_", name_of(precision)), "product/gpu/gemm_tiled.cl", [&]() -> Probed {
    const std::vector<Kind> candidates = dispatch::traits_of(device).matrix_candidates(precision);
    if (candidates.empty()) return {{"none", "the device has no matrix units for it that are known here"}, false};
    return probe(Device(device), precision, candidates);
  });
}

}  // namespace

dispatch::MatrixUnit found_matrix_unit(runtime::DeviceState& device, Precision precision) {
  return {dispatch::matrix_unit_named(known_unit(device, precision).found), false};
}

MatrixUnits matrix_units(Device device, Precision precision) {
  if (precision == Precision::fp32) return {"", "fp32 needs none"};
  const ProbeOutcome outcome = known_unit(device.state(), precision);
  if (outcome.found == "none") return {"", outcome.reason};
  return {outcome.found, ""};
}

}  // namespace crisol::ops
