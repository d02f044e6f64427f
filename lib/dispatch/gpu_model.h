// What the choices for GPUs take a device to be, beyond what OpenCL tells: by vendor, from what vendors publish.
#pragma once

#include <algorithm>
#include <cstdint>

#include "crisol/device.h"

namespace crisol::ops {

enum VendorId : std::uint32_t { vendor_amd = 0x1002, vendor_nvidia = 0x10de, vendor_intel = 0x8086 };

inline bool is_gpu_of(VendorId vendor, const DeviceInfo& info) noexcept {
  return info.vendor_id == vendor && info.type != DeviceType::cpu;
}

/// What a work-group runs on, so many are there. Intel counts execution units, of which eight share local memory and
/// what a work-group runs on.
inline double multiprocessors_of(const DeviceInfo& info) noexcept {
  const double units = info.compute_units;
  return std::max(1.0, is_gpu_of(vendor_intel, info) ? units / 8.0 : units);
}

/// 32-bit registers of a work-item in a work-group of `items`: of NVIDIA's 64 Ki a multiprocessor, dealt to four warps
/// at a time; on Intel those of the narrowest sub-groups. 64 where nothing is known, and no limit on CPUs, which run
/// kernels for GPUs in tests only.
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
