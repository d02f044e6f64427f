// Variants for GPUs, whose kernels run on CPUs too, slowly: tests force them there.
#pragma once

#include "dispatch/variant.h"

namespace crisol::ops {

/// Why a variant made for GPUs is not taken on this device, or nullptr: on a CPU only where it is forced.
inline const char* refuse_off_gpu(const char* op, std::string_view variant, const DeviceInfo& info) {
  const bool gpu = info.type != DeviceType::cpu && info.platform != "Oclgrind";
  if (gpu) return nullptr;
  const std::string forced = forced_variant(op);
  return std::string_view(forced).substr(0, forced.find('/')) == variant ? nullptr : "made for GPUs";
}

}  // namespace crisol::ops
