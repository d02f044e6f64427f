// Variants for GPUs. Their kernels run on CPUs too, but slowly. Tests force them there.
#pragma once

#include "dispatch/variant.h"

namespace crisol::ops {

/// Why a variant for GPUs is not used on this device, or nullptr. On a CPU it is used only if it is forced.
inline const char* refuse_off_gpu(const char* op, std::string_view variant, const DeviceInfo& info) {
  const bool gpu = info.type != DeviceType::cpu && info.platform != "Oclgrind";
  if (gpu) return nullptr;
  const std::string forced = forced_variant(op);
  return std::string_view(forced).substr(0, forced.find('/')) == variant ? nullptr : "made for GPUs";
}

}  // namespace crisol::ops
