// Reads the facts that the driver states about a device.
#pragma once

#include "crisol/device.h"
#include "runtime/cl.h"

namespace crisol::runtime {

DeviceInfo query_device(const cl::Device& device);

}  // namespace crisol::runtime
