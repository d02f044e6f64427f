#include "runtime/device/device_query.h"

#include <algorithm>
#include <sstream>

namespace crisol::runtime {

namespace {

// Queries of the vendors' extensions: CL_DEVICE_SUB_GROUP_SIZES_INTEL, CL_DEVICE_WARP_SIZE_NV and
// CL_DEVICE_WAVEFRONT_WIDTH_AMD.
constexpr cl_device_info intel_sub_group_sizes = 0x4108;
constexpr cl_device_info nv_warp_size = 0x4003;
constexpr cl_device_info amd_wavefront_width = 0x4043;

// A fact that a driver does not know stays 0 or empty. No fact here is so important that the device must be excluded
// without it.
template <class T>
T fact(const cl::Device& device, cl_device_info name) {
  T value{};
  return clGetDeviceInfo(device(), name, sizeof value, &value, nullptr) == CL_SUCCESS ? value : T{};
}

// The text up to the first zero byte, because some drivers include that byte in the string.
std::string terminated(const std::string& text) { return text.substr(0, text.find('\0')); }

std::string text_fact(const cl::Device& device, cl_device_info name) {
  std::size_t size = 0;
  if (clGetDeviceInfo(device(), name, 0, nullptr, &size) != CL_SUCCESS || size == 0) return {};
  std::string text(size, '\0');
  if (clGetDeviceInfo(device(), name, size, text.data(), nullptr) != CL_SUCCESS) return {};
  text.resize(std::min(text.find('\0'), size));
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? std::string() : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::uint64_t> size_list(const cl::Device& device, cl_device_info name) {
  std::size_t bytes = 0;
  if (clGetDeviceInfo(device(), name, 0, nullptr, &bytes) != CL_SUCCESS) return {};
  std::vector<std::size_t> sizes(bytes / sizeof(std::size_t));
  if (sizes.empty() || clGetDeviceInfo(device(), name, bytes, sizes.data(), nullptr) != CL_SUCCESS) return {};
  return {sizes.begin(), sizes.end()};
}

DeviceType type_of(cl_device_type type) {
  if (type & CL_DEVICE_TYPE_GPU) return DeviceType::gpu;
  if (type & CL_DEVICE_TYPE_ACCELERATOR) return DeviceType::accelerator;
  return DeviceType::cpu;
}

std::vector<std::uint64_t> subgroup_sizes(const cl::Device& device, const DeviceInfo& info) {
  if (info.has_extension("cl_intel_required_subgroup_size")) return size_list(device, intel_sub_group_sizes);
  if (info.has_extension("cl_nv_device_attribute_query")) return {fact<cl_uint>(device, nv_warp_size)};
  if (info.has_extension("cl_amd_device_attribute_query")) return {fact<cl_uint>(device, amd_wavefront_width)};
  return {};
}

}  // namespace

DeviceInfo query_device(const cl::Device& device) {
  DeviceInfo info;
  info.name = text_fact(device, CL_DEVICE_NAME);
  info.vendor = text_fact(device, CL_DEVICE_VENDOR);
  const cl::Platform platform(fact<cl_platform_id>(device, CL_DEVICE_PLATFORM));
  info.platform = terminated(platform.getInfo<CL_PLATFORM_NAME>());
  info.platform_vendor = terminated(platform.getInfo<CL_PLATFORM_VENDOR>());
  info.driver_version = text_fact(device, CL_DRIVER_VERSION);
  info.device_version = text_fact(device, CL_DEVICE_VERSION);
  info.opencl_c_version = text_fact(device, CL_DEVICE_OPENCL_C_VERSION);
  info.extensions = text_fact(device, CL_DEVICE_EXTENSIONS);
  info.type = type_of(fact<cl_device_type>(device, CL_DEVICE_TYPE));
  info.vendor_id = fact<cl_uint>(device, CL_DEVICE_VENDOR_ID);
  info.compute_units = std::max(1, static_cast<int>(fact<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS)));
  info.clock_mhz = static_cast<int>(fact<cl_uint>(device, CL_DEVICE_MAX_CLOCK_FREQUENCY));
  info.native_float_width = std::max(1, static_cast<int>(fact<cl_uint>(device, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT)));
  info.global_memory = fact<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
  info.max_allocation = fact<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  info.local_memory = fact<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE);
  info.dedicated_local_memory = fact<cl_device_local_mem_type>(device, CL_DEVICE_LOCAL_MEM_TYPE) == CL_LOCAL;
  info.max_work_group = std::max<std::uint64_t>(1, fact<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE));
  info.max_work_item_sizes = size_list(device, CL_DEVICE_MAX_WORK_ITEM_SIZES);
  info.unified_memory = fact<cl_bool>(device, CL_DEVICE_HOST_UNIFIED_MEMORY) == CL_TRUE;
  info.fp16 = info.has_extension("cl_khr_fp16");
  info.fp64 = info.has_extension("cl_khr_fp64") || fact<cl_device_fp_config>(device, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
  info.fast_fma = (fact<cl_device_fp_config>(device, CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_FMA) != 0;
  info.has_compiler = fact<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE) == CL_TRUE;
  info.subgroup_sizes = subgroup_sizes(device, info);
  return info;
}

}  // namespace crisol::runtime
