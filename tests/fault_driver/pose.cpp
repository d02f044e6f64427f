#include "fault_driver/pose.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "crisol/device.h"
#include "null_driver/facts.h"

namespace crisol::testing {

namespace {

const cl_icd_dispatch* true_driver = nullptr;

template <class T>
T true_fact(cl_device_id device, cl_device_info question) {
  T value{};
  true_driver->clGetDeviceInfo(device, question, sizeof value, &value, nullptr);
  return value;
}

template <class T>
std::vector<T> true_facts(cl_device_id device, cl_device_info question) {
  std::size_t bytes = 0;
  if (true_driver->clGetDeviceInfo(device, question, 0, nullptr, &bytes) != CL_SUCCESS) return {};
  std::vector<T> values(bytes / sizeof(T));
  true_driver->clGetDeviceInfo(device, question, bytes, values.data(), nullptr);
  return values;
}

std::string true_text(cl_device_id device, cl_device_info question) {
  const std::vector<char> text = true_facts<char>(device, question);
  return {text.begin(), std::find(text.begin(), text.end(), '\0')};
}

std::string true_platform_name(cl_device_id device) {
  char name[256] = "";
  true_driver->clGetPlatformInfo(true_fact<cl_platform_id>(device, CL_DEVICE_PLATFORM), CL_PLATFORM_NAME,
                                 sizeof name - 1, name, nullptr);
  return name;
}

DeviceInfo read_wanted() {
  try {
    return read_device_info(std::getenv(pose_variable));
  } catch (const std::exception& error) {
    std::cerr << pose_variable << ": " << error.what() << '\n';
    std::exit(2);  // Without the pose, the tests would run on the true device under its own name.
  }
}

const DeviceInfo& wanted() {
  static const DeviceInfo& info = *new DeviceInfo(read_wanted());
  return info;
}

// The extensions that both devices have, and the extensions for vendor queries, because this driver answers these
// queries.
std::string posed_extensions(cl_device_id device) {
  DeviceInfo is;
  is.extensions = true_text(device, CL_DEVICE_EXTENSIONS);
  std::istringstream words(wanted().extensions);
  std::string posed;
  for (std::string word; words >> word;)
    if (is.has_extension(word) || word == "cl_nv_device_attribute_query" || word == "cl_amd_device_attribute_query")
      posed += (posed.empty() ? "" : " ") + word;
  return posed;
}

// The wanted device, limited by the true device.
DeviceInfo make_posed(cl_device_id device) {
  DeviceInfo info = wanted();
  const double share = static_cast<double>(info.max_allocation) / static_cast<double>(info.global_memory);
  info.driver_version += " posed by " + true_platform_name(device) + ' ' + true_text(device, CL_DRIVER_VERSION);
  info.extensions = posed_extensions(device);
  const auto limit = [&]<class T>(std::uint64_t& value, T is) { value = std::min<std::uint64_t>(value, is); };
  limit(info.global_memory, true_fact<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE));
  limit(info.max_allocation, static_cast<std::uint64_t>(share * static_cast<double>(info.global_memory)));
  limit(info.max_allocation, true_fact<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE));
  limit(info.local_memory, true_fact<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE));
  limit(info.max_work_group, true_fact<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE));
  const auto sizes = true_facts<std::size_t>(device, CL_DEVICE_MAX_WORK_ITEM_SIZES);
  for (std::size_t i = 0; i < std::min(sizes.size(), info.max_work_item_sizes.size()); ++i)
    limit(info.max_work_item_sizes[i], sizes[i]);
  info.fp64 = info.fp64 && true_fact<cl_device_fp_config>(device, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
  if (info.has_extension("cl_intel_required_subgroup_size")) {  // Kernels require these sizes from the compiler.
    constexpr cl_device_info intel_sub_group_sizes = 0x4108;
    const auto offered = true_facts<std::size_t>(device, intel_sub_group_sizes);
    std::erase_if(info.subgroup_sizes,
                  [&](std::uint64_t size) { return std::find(offered.begin(), offered.end(), size) == offered.end(); });
  }
  return info;
}

const DeviceInfo& posed(cl_device_id device) {
  static std::mutex& mutex = *new std::mutex;  // Never destroyed: calls may come after static objects are gone.
  static auto& known = *new std::map<cl_device_id, DeviceInfo>;
  const std::lock_guard lock(mutex);
  const auto found = known.find(device);
  return found != known.end() ? found->second : known.emplace(device, make_posed(device)).first->second;
}

// The vendors' own questions, which CLBlast asks: NVIDIA's architecture (7.0 takes no newer instructions) and AMD's
// name of the board.
null_driver::Fact vendor_fact(cl_device_id device, cl_device_info question) {
  constexpr cl_device_info nv_compute_capability_major = 0x4000, nv_compute_capability_minor = 0x4001,
                           amd_board_name = 0x4038;
  switch (question) {
    case nv_compute_capability_major: return null_driver::fact_of(cl_uint{7});
    case nv_compute_capability_minor: return null_driver::fact_of(cl_uint{0});
    case amd_board_name: return null_driver::device_fact(posed(device), CL_DEVICE_NAME);
    default: return {};
  }
}

cl_int CL_API_CALL get_device_ids(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id* devices,
                                  cl_uint* count) {
  cl_device_type own = 0;
  null_driver::answer(null_driver::device_fact(wanted(), CL_DEVICE_TYPE), sizeof own, &own, nullptr);
  if ((type & (own | CL_DEVICE_TYPE_DEFAULT)) == 0) return CL_DEVICE_NOT_FOUND;
  return true_driver->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, room, devices, count);
}

cl_int CL_API_CALL get_device_info(cl_device_id device, cl_device_info question, std::size_t room, void* value,
                                   std::size_t* size) {
  null_driver::Fact fact = null_driver::device_fact(posed(device), question);
  if (!fact) fact = vendor_fact(device, question);
  return fact ? null_driver::answer(fact, room, value, size)
              : true_driver->clGetDeviceInfo(device, question, room, value, size);
}

}  // namespace

bool is_posing() { return std::getenv(pose_variable) != nullptr; }

cl_int CL_API_CALL posed_platform_info(cl_platform_id platform, cl_platform_info question, std::size_t room,
                                       void* value, std::size_t* size) {
  switch (question) {
    case CL_PLATFORM_NAME:
    case CL_PLATFORM_VENDOR:
    case CL_PLATFORM_VERSION:
      return null_driver::answer(null_driver::platform_fact(wanted(), question), room, value, size);
    default: return true_driver->clGetPlatformInfo(platform, question, room, value, size);
  }
}

void add_pose(cl_icd_dispatch& table, const cl_icd_dispatch& original) {
  true_driver = &original;
  table.clGetPlatformInfo = posed_platform_info;
  table.clGetDeviceIDs = get_device_ids;
  table.clGetDeviceInfo = get_device_info;
}

cl_int check_posed_buffer(cl_context context, std::size_t bytes) {
  cl_device_id device = nullptr;
  true_driver->clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof device, &device, nullptr);
  return device != nullptr && bytes > posed(device).max_allocation ? CL_INVALID_BUFFER_SIZE : CL_SUCCESS;
}

cl_int check_posed_launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const std::size_t* group) {
  cl_device_id device = nullptr;
  if (true_driver->clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, nullptr) != CL_SUCCESS)
    return CL_SUCCESS;  // The true driver reports the error.
  const DeviceInfo& info = posed(device);
  std::size_t items = 1;
  for (cl_uint i = 0; group != nullptr && i < dimensions; ++i) {
    items *= group[i];
    if (group[i] > info.max_work_item_sizes[i]) return CL_INVALID_WORK_ITEM_SIZE;
  }
  if (items > info.max_work_group) return CL_INVALID_WORK_GROUP_SIZE;
  cl_ulong local = 0;
  true_driver->clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local, nullptr);
  return local > info.local_memory ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

}  // namespace crisol::testing
