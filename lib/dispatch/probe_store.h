// What a device was found to do, kept beside its programs (disk_cache.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "crisol/device.h"

namespace crisol::runtime {

/// What a probe came to.
struct ProbeOutcome {
  std::string found;   ///< "none", or what works.
  std::string reason;  ///< Why nothing, where that is so.
};

/// The outcome of the probe of that name on such a device with this driver, this version of the library and this text
/// of its kernel; those of others are never given.
std::optional<ProbeOutcome> load_probe(const DeviceInfo& info, std::string_view name, std::string_view kernel_source);
void store_probe(const DeviceInfo& info, std::string_view name, std::string_view kernel_source,
                 const ProbeOutcome& outcome);

}  // namespace crisol::runtime
