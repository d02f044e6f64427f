// Answers of clGetDeviceInfo and clGetPlatformInfo, made from a DeviceInfo.
#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "crisol/device.h"
#include "null_driver/opencl.h"

namespace crisol::null_driver {

/// The bytes of an answer, or nothing if the device does not know the question.
using Fact = std::optional<std::string>;

/// The bytes of any plain value.
template <class T>
Fact fact_of(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

Fact platform_fact(const DeviceInfo& info, cl_platform_info question);
Fact device_fact(const DeviceInfo& info, cl_device_info question);

/// Writes a fact as the clGet…Info functions do.
cl_int answer(const Fact& fact, std::size_t room, void* value, std::size_t* size);

}  // namespace crisol::null_driver
