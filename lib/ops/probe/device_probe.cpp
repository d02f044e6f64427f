#include "ops/probe/device_probe.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>

#include "base/text.h"
#include "crisol/ops/probe.h"
#include "dispatch/matrix_unit.h"
#include "runtime/capture/capture.h"
#include "runtime/program/kernel_source.h"
#include "runtime/verbose.h"

namespace crisol::ops {

namespace {

using dispatch::ProbeOutcome;

constexpr std::array names = {"matrix_tf32", "matrix_fp16", "matrix_bf16", "pairs", "bytes", "shuffle"};

bool can_find(const std::string& name, const std::string& found) {
  if (name == "pairs") return found == "pmaddwd" || found == "vpdpwssd" || found == "tdpbssd";
  if (name == "bytes") return found == "vpdpbusd" || found == "vpdpbusd_gfni";
  return name == "shuffle" ? found == "nvidia" : dispatch::matrix_unit_named(found) != dispatch::MatrixUnit::Kind::none;
}

struct Known {
  std::recursive_mutex mutex;  // Recursive, because a probe runs ops, and their plans ask for the outcomes of probes.
  std::map<std::pair<int, std::string>, ProbeOutcome> outcomes;
};

Known& known() {
  static Known& all = *new Known;  // Never destroyed, because callers may outlive static objects.
  return all;
}

ProbeOutcome find(runtime::DeviceState& device, const std::string& name, const char* file,
                  const std::function<Probed()>& probe) {
  const DeviceInfo& info = runtime::info_of(device);
  const std::string source = runtime::expanded_source({}, file);
  if (const auto stored = dispatch::load_probe(info, name, source)) return *stored;
  const runtime::PauseCapture pause;  // The probe's launches must not be captured or profiled.
  const Probed probed = probe();
  runtime::log(runtime::Topic::build, "probe of ", name, " on ", info.name, ": ", probed.outcome.found, ' ',
               probed.outcome.reason);
  if (probed.lasting) dispatch::store_probe(info, name, source, probed.outcome);
  return probed.outcome;
}

}  // namespace

Probed probe_one(const char* what, const std::function<bool()>& works) {
  try {
    if (works()) return {{what, ""}};
    return {{"none", concat(what, " gives wrong numbers")}};
  } catch (const Error& error) {
    const std::string text = error.what();
    return {{"none", concat(what, ": ", text.substr(0, text.find('\n')))}, error.code() == ErrorCode::build_failure};
  }
}

ProbeOutcome probe_outcome(runtime::DeviceState& device, const std::string& name, const char* file,
                           const std::function<Probed()>& probe) {
  const std::lock_guard lock(known().mutex);
  const std::pair key{Device(device).index(), name};
  const auto found = known().outcomes.find(key);
  if (found != known().outcomes.end()) return found->second;
  // The answer while the probe runs, for the ops that the probe itself runs.
  known().outcomes[key] = {"none", "it is being probed"};
  try {
    return known().outcomes[key] = find(device, name, file, probe);
  } catch (...) {
    known().outcomes.erase(key);
    throw;
  }
}

void assume_probes(Device device, const std::map<std::string, std::string>& found) {
  for (const auto& [name, what] : found) {
    require(std::find(names.begin(), names.end(), name) != names.end(), "assume_probes", "there is no probe '", name,
            '\'');
    require(can_find(name, what), "assume_probes", name, " cannot find '", what, '\'');
  }
  const std::lock_guard lock(known().mutex);
  for (const char* name : names) {
    const auto one = found.find(name);
    known().outcomes[{device.index(), name}] =
        one == found.end() ? ProbeOutcome{"none", "none is assumed"} : ProbeOutcome{one->second, ""};
  }
}

}  // namespace crisol::ops
