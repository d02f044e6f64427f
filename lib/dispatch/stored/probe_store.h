// The results of probes on a device, stored next to its programs (disk_cache.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "crisol/device.h"

namespace crisol::dispatch {

/// The outcome of a probe.
struct ProbeOutcome {
  std::string found;   ///< "none", or the name of the method that works.
  std::string reason;  ///< The reason why nothing works, if nothing works.
};

/// The stored outcome of the probe with this name, for this device, driver, version of the library and text of the
/// kernel. An outcome for another device, driver, version or text is never returned.
std::optional<ProbeOutcome> load_probe(const DeviceInfo& info, std::string_view name, std::string_view kernel_source);
void store_probe(const DeviceInfo& info, std::string_view name, std::string_view kernel_source,
                 const ProbeOutcome& outcome);

}  // namespace crisol::dispatch
