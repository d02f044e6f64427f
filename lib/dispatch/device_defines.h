// Defines that tell kernels about the device.
#pragma once

#include "runtime/launch.h"

namespace crisol::dispatch {

/// Adds NO_FMA, which cl_kernels/common/fma.h reads, on a device that computes fma() in software.
inline void define_fma(runtime::Defines& defines, const DeviceInfo& info) {
  if (!info.fast_fma) defines.add({"NO_FMA", 1});
}

}  // namespace crisol::dispatch
