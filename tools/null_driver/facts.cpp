#include "null_driver/facts.h"

#include <algorithm>
#include <array>

namespace crisol::null_driver {

namespace {

// CL_DEVICE_SUB_GROUP_SIZES_INTEL, CL_DEVICE_WARP_SIZE_NV and CL_DEVICE_WAVEFRONT_WIDTH_AMD of the vendors' extensions.
constexpr cl_device_info intel_sub_group_sizes = 0x4108;
constexpr cl_device_info nv_warp_size = 0x4003;
constexpr cl_device_info amd_wavefront_width = 0x4043;

Fact text(const std::string& value) { return std::string(value.c_str(), value.size() + 1); }
Fact number(std::uint64_t value) { return fact_of(static_cast<cl_uint>(value)); }
Fact flag(bool value) { return fact_of(static_cast<cl_bool>(value ? CL_TRUE : CL_FALSE)); }

Fact sizes(const std::vector<std::uint64_t>& values) {
  std::string bytes;
  for (const std::uint64_t value : values) bytes += *fact_of(static_cast<std::size_t>(value));
  return bytes;
}

cl_device_type type_of(DeviceType type) {
  switch (type) {
    case DeviceType::gpu: return CL_DEVICE_TYPE_GPU;
    case DeviceType::accelerator: return CL_DEVICE_TYPE_ACCELERATOR;
    case DeviceType::cpu: break;
  }
  return CL_DEVICE_TYPE_CPU;
}

Fact subgroup_fact(const DeviceInfo& info, cl_device_info question) {
  if (info.subgroup_sizes.empty()) return {};
  switch (question) {
    case intel_sub_group_sizes: return sizes(info.subgroup_sizes);
    case nv_warp_size:
    case amd_wavefront_width: return number(info.subgroup_sizes.back());
    default: return {};
  }
}

Fact text_fact(const DeviceInfo& info, cl_device_info question) {
  switch (question) {
    case CL_DEVICE_NAME: return text(info.name);
    case CL_DEVICE_VENDOR: return text(info.vendor);
    case CL_DRIVER_VERSION: return text(info.driver_version);
    case CL_DEVICE_VERSION: return text(info.device_version);
    case CL_DEVICE_OPENCL_C_VERSION: return text(info.opencl_c_version);
    case CL_DEVICE_EXTENSIONS: return text(info.extensions);
    case CL_DEVICE_PROFILE: return text("FULL_PROFILE");
    default: return {};
  }
}

}  // namespace

Fact platform_fact(const DeviceInfo& info, cl_platform_info question) {
  switch (question) {
    case CL_PLATFORM_NAME: return text(info.platform);
    case CL_PLATFORM_VENDOR: return text(info.platform_vendor);
    case CL_PLATFORM_VERSION: return text(info.device_version);
    case CL_PLATFORM_PROFILE: return text("FULL_PROFILE");
    case CL_PLATFORM_EXTENSIONS: return text("cl_khr_icd");
    case CL_PLATFORM_ICD_SUFFIX_KHR: return text("CRISOLNULL");
    default: return {};
  }
}

Fact device_fact(const DeviceInfo& info, cl_device_info question) {
  switch (question) {
    case CL_DEVICE_TYPE: return fact_of(type_of(info.type));
    case CL_DEVICE_VENDOR_ID: return number(info.vendor_id);
    case CL_DEVICE_MAX_COMPUTE_UNITS: return number(static_cast<std::uint64_t>(info.compute_units));
    case CL_DEVICE_MAX_CLOCK_FREQUENCY: return number(static_cast<std::uint64_t>(info.clock_mhz));
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT: return number(static_cast<std::uint64_t>(info.native_float_width));
    case CL_DEVICE_GLOBAL_MEM_SIZE: return fact_of(cl_ulong{info.global_memory});
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE: return fact_of(cl_ulong{info.max_allocation});
    case CL_DEVICE_LOCAL_MEM_SIZE: return fact_of(cl_ulong{info.local_memory});
    case CL_DEVICE_LOCAL_MEM_TYPE: return number(info.dedicated_local_memory ? CL_LOCAL : CL_GLOBAL);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE: return fact_of(static_cast<std::size_t>(info.max_work_group));
    case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS: return number(info.max_work_item_sizes.size());
    case CL_DEVICE_MAX_WORK_ITEM_SIZES: return sizes(info.max_work_item_sizes);
    case CL_DEVICE_HOST_UNIFIED_MEMORY: return flag(info.unified_memory);
    case CL_DEVICE_SINGLE_FP_CONFIG:
      return fact_of(cl_device_fp_config{CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT |
                                         (info.fast_fma ? cl_bitfield{CL_FP_FMA} : 0)});
    case CL_DEVICE_DOUBLE_FP_CONFIG: return fact_of(cl_device_fp_config{info.fp64 ? CL_FP_ROUND_TO_NEAREST : 0u});
    case CL_DEVICE_AVAILABLE: return flag(true);
    case CL_DEVICE_COMPILER_AVAILABLE: return flag(info.has_compiler);
    default: break;
  }
  Fact fact = text_fact(info, question);
  return fact ? fact : subgroup_fact(info, question);
}

cl_int answer(const Fact& fact, std::size_t room, void* value, std::size_t* size) {
  if (!fact || (value != nullptr && room < fact->size())) return CL_INVALID_VALUE;
  if (value != nullptr) std::memcpy(value, fact->data(), fact->size());
  if (size != nullptr) *size = fact->size();
  return CL_SUCCESS;
}

}  // namespace crisol::null_driver
