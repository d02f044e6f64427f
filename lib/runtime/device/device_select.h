// Rules that select a device by a text and choose the default device. They use only DeviceInfo values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crisol/device.h"

namespace crisol::runtime {

/// A device as the rules see it. `platform_index` and `device_index` are the indices of the OpenCL loader.
struct Candidate {
  const DeviceInfo* info;
  int platform_index;
  int device_index;
};

/// The type that the text names, in upper or lower case, without a number. Nothing if it names something else.
std::optional<DeviceType> type_named(std::string_view spec);

/// The position of the device that `spec` names (see Device::Device). Error messages name `origin` as the source of the
/// text.
std::size_t select_device(const std::vector<Candidate>& candidates, std::string_view spec, std::string_view origin);

struct DefaultChoice {
  std::size_t index;
  std::string reason;
};

/// Prefers GPUs: first the GPU with the most memory of its own, then the GPU with the most shared memory. Accelerators
/// and CPUs come after GPUs. A device without a compiler is never chosen.
DefaultChoice select_default(const std::vector<Candidate>& candidates);

/// One line for each device: the text that selects it, its name, platform and type.
std::string list_devices(const std::vector<Candidate>& candidates);

}  // namespace crisol::runtime
