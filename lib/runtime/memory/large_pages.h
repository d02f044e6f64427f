// Buffers in large pages for CPU devices.
#pragma once

#include <cstdint>

#include "runtime/cl.h"

namespace crisol::runtime {

class DeviceState;

/// Creates a read-write buffer of `bytes`, and sets `error` as clCreateBuffer does. If the device computes in the
/// host's memory, the buffer gets memory of the process (see host_memory.h). A large buffer gets large pages if the
/// device uses the host's memory and the system gives large pages on request. A kernel that streams through 64 MB is
/// then up to twice as fast, because it meets a new page every 2 MB instead of every 4 KB.
cl_mem create_buffer(DeviceState& device, std::uint64_t bytes, cl_int& error);

}  // namespace crisol::runtime
