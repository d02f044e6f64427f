#include "ops/matrix_probe.h"

#include <map>
#include <mutex>

#include "base/text.h"
#include "crisol/ops/matmul.h"
#include "ops/gemm_matrix.h"
#include "runtime/kernel_source.h"
#include "runtime/probe_store.h"
#include "runtime/recording.h"
#include "runtime/verbose.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

using Kind = MatrixUnit::Kind;
using runtime::ProbeOutcome;

std::string probe_name(Precision precision) { return concat("matrix_", name_of(precision)); }

std::string kernel_source() { return runtime::expanded_source({}, "gemm_matrix.cl"); }

// Eighths from -7.5 to 7.5, which every precision holds and whose products' sums fp32 holds.
std::vector<float> eighths(std::int64_t count, std::uint32_t seed) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(static_cast<int>(seed >> 24) % 121 - 60) / 8.0f;
  }
  return values;
}

// A product of more than a tile, and no multiple of one, in the largest tile's kernel.
bool multiplies_rightly(Device device, Precision precision, Kind kind) {
  const std::int64_t m = 132, n = 140, k = 100;
  const std::vector<float> a = eighths(m * k, 1), b = eighths(k * n, 2);
  const Tensor left = from_bytes(a.data(), {m, k}, DType::f32, device),
               right = from_bytes(b.data(), {k, n}, DType::f32, device);
  const Tensor y = zeros({m, n}, DType::f32, device);
  Gemm problem{.device = device.state(),
               .m = m,
               .n = n,
               .k = k,
               .a = {in(left), k, 1},
               .b = {in(right), n, 1},
               .c = {out(y), n, 1},
               .bias = in(left),
               .precision = precision,
               .unit = {kind, false}};
  run_gemm_matrix(problem, cut_matrix(matrix_tiles(kind).front(), work_of(problem), 1));
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

struct Found {
  ProbeOutcome outcome;
  bool lasting = true;  // Not where it may come from want of memory or the like.
};

Found probe(Device device, Precision precision, const std::vector<Kind>& candidates) {
  Found found{{"none", ""}};
  for (const Kind kind : candidates) {
    const char* name = facts_of(kind).name;
    try {
      if (multiplies_rightly(device, precision, kind)) return {{name, ""}};
      found.outcome.reason = concat(name, " gives wrong numbers");
    } catch (const Error& error) {
      const std::string text = error.what();
      found.outcome.reason = concat(name, ": ", text.substr(0, text.find('\n')));
      found.lasting = found.lasting && error.code() == ErrorCode::build_failure;
    }
  }
  return found;
}

ProbeOutcome find_unit(runtime::DeviceState& state, Precision precision) {
  const DeviceInfo& info = runtime::info_of(state);
  const std::vector<Kind> candidates = matrix_candidates(info, precision);
  if (candidates.empty()) return {"none", "the device has no matrix units for it that are known here"};
  const std::string name = probe_name(precision), source = kernel_source();
  if (const auto stored = runtime::load_probe(info, name, source)) return *stored;
  const runtime::PauseRecording pause;  // Its launches are not the user's.
  const Found found = probe(Device(state), precision, candidates);
  runtime::say(runtime::Topic::build, "probe of ", name, " on ", info.name, ": ", found.outcome.found, ' ',
               found.outcome.reason);
  if (found.lasting) runtime::store_probe(info, name, source, found.outcome);
  return found.outcome;
}

struct Known {
  std::mutex mutex;
  std::map<std::pair<int, Precision>, ProbeOutcome> outcomes;
};

Known& known() {
  static Known& all = *new Known;  // Kept for callers that outlive static objects.
  return all;
}

// One question of a device and precision at a time; the others wait for its answer.
ProbeOutcome known_unit(runtime::DeviceState& state, Precision precision) {
  const std::lock_guard lock(known().mutex);
  const std::pair key{Device(state).index(), precision};
  const auto found = known().outcomes.find(key);
  if (found != known().outcomes.end()) return found->second;
  return known().outcomes[key] = find_unit(state, precision);
}

}  // namespace

MatrixUnit matrix_unit_of(runtime::DeviceState& device, Precision precision, const char* op) {
  if (precision == Precision::fp32) return {};
  if (forced_variant(op).rfind("matrix", 0) == 0 && matrix_candidates(runtime::info_of(device), precision).empty())
    return {Kind::mma_sm80, true};
  return {matrix_unit_named(known_unit(device, precision).found), false};
}

MatrixUnits matrix_units(Device device, Precision precision) {
  if (precision == Precision::fp32) return {"", "fp32 needs none"};
  const ProbeOutcome outcome = known_unit(device.state(), precision);
  if (outcome.found == "none") return {"", outcome.reason};
  return {outcome.found, ""};
}

void assume_matrix_units(Device device, Precision precision, const std::string& unit) {
  require(unit.empty() || matrix_unit_named(unit) != Kind::none, "assume_matrix_units", "there is no unit '", unit,
          '\'');
  const std::lock_guard lock(known().mutex);
  known().outcomes[{device.index(), precision}] =
      unit.empty() ? ProbeOutcome{"none", "none is assumed"} : ProbeOutcome{unit, ""};
}

}  // namespace crisol::ops
