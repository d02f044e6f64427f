// An OpenCL driver for a device that is not in this machine. It answers queries from the file CRISOL_NULL_DEVICE. It
// accepts programs and kernels, writes them down and runs nothing; buffers hold zeros. With it `crisol kernels` shows
// the programs and launches of the library on any device. It implements the calls that the library makes, and no calls
// for images, samplers or SVM.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>

#include "null_driver/control.h"
#include "null_driver/objects.h"

#define CRISOL_NULL_EXPORT __attribute__((visibility("default")))

namespace crisol::null_driver {

namespace {

// The device of the file. If there is none, prints the reason on stderr.
_cl_device_id* load_device() {
  const char* path = std::getenv(device_variable);
  if (path == nullptr) return nullptr;
  try {
    auto* device = new _cl_device_id;
    device->info = read_device_info(path);
    return device;
  } catch (const std::exception& error) {
    std::cerr << device_variable << ": " << error.what() << '\n';
    return nullptr;
  }
}

_cl_device_id* loaded_device() {
  static _cl_device_id* const device = load_device();
  return device;
}

// Stands in for each call that this driver lacks. Otherwise the loader would jump to a null pointer.
void missing() {
  std::fputs("crisol_null_driver: the program made an OpenCL call that this driver does not know\n", stderr);
  std::abort();
}

cl_icd_dispatch make_table() {
  cl_icd_dispatch calls;
  const auto entry = reinterpret_cast<void*>(&missing);
  static_assert(sizeof calls % sizeof entry == 0);
  for (std::size_t at = 0; at < sizeof calls; at += sizeof entry)
    std::memcpy(reinterpret_cast<char*>(&calls) + at, &entry, sizeof entry);
  add_platform_calls(calls);
  add_program_calls(calls);
  add_memory_calls(calls);
  add_queue_calls(calls);
  return calls;
}

cl_int CL_API_CALL get_platforms(cl_uint room, cl_platform_id* platforms, cl_uint* count) {
  constexpr cl_int platform_not_found = -1001;  // CL_PLATFORM_NOT_FOUND_KHR
  if (loaded_device() == nullptr) return platform_not_found;
  if (platforms != nullptr && room > 0) platforms[0] = &the_platform();
  if (count != nullptr) *count = 1;
  return CL_SUCCESS;
}

}  // namespace

cl_icd_dispatch table = make_table();

Record& record() {
  static Record& the_record = *new Record;  // Never freed: objects may be released after static ones.
  return the_record;
}

_cl_platform_id& the_platform() {
  static _cl_platform_id& platform = *new _cl_platform_id;
  return platform;
}

_cl_device_id& the_device() { return *loaded_device(); }

}  // namespace crisol::null_driver

using namespace crisol::null_driver;

extern "C" {

CRISOL_NULL_EXPORT void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) {
  const std::string wanted = name;
  if (wanted == "clIcdGetPlatformIDsKHR") return reinterpret_cast<void*>(&get_platforms);
  return wanted == "clGetPlatformInfo" ? reinterpret_cast<void*>(table.clGetPlatformInfo) : nullptr;
}

// Some loaders look for these symbols before they ask for platforms.
CRISOL_NULL_EXPORT cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id* platforms, cl_uint* count) {
  return get_platforms(room, platforms, count);
}
CRISOL_NULL_EXPORT cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info question,
                                                        std::size_t room, void* value, std::size_t* size) {
  return table.clGetPlatformInfo(platform, question, room, value, size);
}

CRISOL_NULL_EXPORT void crisol_null_begin_part(std::size_t part) { record().begin_part(part); }

CRISOL_NULL_EXPORT const char* crisol_null_record() {
  static std::string text;
  text = record().to_json();
  return text.c_str();
}

}  // extern "C"
