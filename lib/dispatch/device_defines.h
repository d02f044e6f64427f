// Defines that tell kernels about the device.
#pragma once

#include "runtime/launch.h"

namespace crisol::dispatch {

/// Adds NO_FMA, which cl_kernels/common/fma.h reads, on a device that computes fma() in software. Adds CPU on CPUs,
/// where kernels take the functions of cl_kernels/common/math/. The drivers' own functions of vectors are slow there.
inline void define_math(runtime::Defines& defines, const DeviceInfo& info) {
  if (!info.fast_fma) defines.add({"NO_FMA", 1});
  if (info.type == DeviceType::cpu) defines.add({"CPU", 1});
}

}  // namespace crisol::dispatch
