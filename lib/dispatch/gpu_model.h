// Facts about GPUs that the choices need and OpenCL does not tell: values for each vendor, as vendors publish them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "crisol/device.h"

namespace crisol::ops {

enum VendorId : std::uint32_t { vendor_amd = 0x1002, vendor_nvidia = 0x10de, vendor_intel = 0x8086 };

inline bool is_gpu_of(VendorId vendor, const DeviceInfo& info) noexcept {
  return info.vendor_id == vendor && info.type != DeviceType::cpu;
}

/// The number of processors that each run a work-group. Intel counts execution units; eight of them share local memory
/// and run a work-group.
inline double multiprocessors_of(const DeviceInfo& info) noexcept {
  const double units = info.compute_units;
  return std::max(1.0, is_gpu_of(vendor_intel, info) ? units / 8.0 : units);
}

/// How many 32-bit registers a work-item has in a work-group of `items`. NVIDIA has 64 Ki for each multiprocessor,
/// dealt to four warps at a time. On Intel it is the number of the narrowest sub-groups. For an unknown vendor it is
/// 64. CPUs get the largest number, because they run kernels for GPUs only in tests.
inline std::int64_t registers_of_item(const DeviceInfo& info, std::int64_t items) noexcept {
  if (info.type == DeviceType::cpu || info.platform == "Oclgrind") return 256;
  switch (info.vendor_id) {
    case vendor_nvidia: return std::min<std::int64_t>(255, 65536 / ((items + 127) / 128 * 128) / 8 * 8);
    case vendor_amd: return 256;
    case vendor_intel: return 128;
    default: return 64;
  }
}

}  // namespace crisol::ops
