// Buffers of CPU devices in large pages.
#pragma once

#include <cstdint>

#include "runtime/cl.h"

namespace crisol::runtime {

class DeviceState;

/// Creates a read-write buffer of `bytes`; `error` as clCreateBuffer sets it. Where the device's memory is the host's
/// and the system gives large pages to who asks for them, a large buffer lies in such: a kernel that streams through 64
/// MB is then up to twice as fast, because it meets a new page every 2 MB instead of every 4 KB.
cl_mem create_buffer(DeviceState& device, std::uint64_t bytes, cl_int& error);

}  // namespace crisol::runtime
