#include "dispatch/target.h"

#include <optional>
#include <unordered_map>

#include "base/per_thread.h"
#include "crisol/ops/workspace.h"
#include "dispatch/probes.h"

namespace crisol::dispatch {

namespace {

struct Facts {
  GpuTraits traits;
  std::optional<bool> assembly_shuffles;  // Empty before the first target_of().
  std::array<MatrixUnit, 4> units{};
  std::array<bool, 4> has_unit{};  // By precision: whether the unit is known.
};

// What a thread knows about devices. It is needed for each launch, so a thread remembers it.
struct FactsOfDevices {
  std::unordered_map<const runtime::DeviceState*, Facts> of;
};

Facts& facts_of(runtime::DeviceState& device) {
  auto& answers = per_thread<FactsOfDevices>().of;
  const auto known = answers.find(&device);
  if (known != answers.end()) return known->second;
  return answers[&device] = {gpu_traits(runtime::info_of(device)), {}, {}};
}

MatrixUnit unit_of(runtime::DeviceState& device, const GpuTraits& traits, Precision precision) {
  const auto probe = probes().matrix_unit;
  if (precision == Precision::fp32 || probe == nullptr) return {};
  const MatrixUnit found = probe(device, precision);
  const bool has_candidates = !traits.matrix_candidates(precision).empty();
  if (found.kind != MatrixUnit::Kind::none || has_candidates) return found;
  return {MatrixUnit::Kind::mma_sm80, true};
}

}  // namespace

Probes& probes() noexcept {
  static Probes of_process;
  return of_process;
}

const GpuTraits& traits_of(runtime::DeviceState& device) { return facts_of(device).traits; }

Target target_of(runtime::DeviceState& device) {
  Facts& facts = facts_of(device);
  if (!facts.assembly_shuffles) {
    const auto probe = probes().assembly_shuffles;
    facts.assembly_shuffles = probe != nullptr && probe(device);
  }
  const Precision wanted = precision();
  const auto at = static_cast<std::size_t>(wanted);
  if (!facts.has_unit[at]) facts.units[at] = unit_of(device, facts.traits, wanted);
  facts.has_unit[at] = true;  // Set only now, because the probe itself calls target_of().
  return {runtime::info_of(device),
          runtime::vector_width(device),
          facts.traits.loop_budget,
          ops::workspace_limit(),
          *facts.assembly_shuffles,
          facts.units,
          facts.traits};
}

}  // namespace crisol::dispatch
