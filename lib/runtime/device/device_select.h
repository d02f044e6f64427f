// Which device a text names, and which one is the default: rules on DeviceInfo values alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "crisol/device.h"

namespace crisol::runtime {

/// A device as selection sees it; `platform_index` and `device_index` are the loader's.
struct Candidate {
  const DeviceInfo* info;
  int platform_index;
  int device_index;
};

/// Position of the device that `spec` names (see Device::Device); `origin` says where the text comes from in messages.
std::size_t select_device(const std::vector<Candidate>& candidates, std::string_view spec, std::string_view origin);

struct DefaultChoice {
  std::size_t index;
  std::string reason;
};

/// The GPU with the most memory of its own, then that with most of the host's, then accelerators, then CPUs; devices
/// without a compiler never.
DefaultChoice select_default(const std::vector<Candidate>& candidates);

/// A line for each device: what to write to get it, its name, platform and type.
std::string list_devices(const std::vector<Candidate>& candidates);

}  // namespace crisol::runtime
