// Buffers in host memory whose address the library knows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/cl.h"
#include "runtime/memory/block.h"

namespace crisol::runtime {

class DeviceState;

/// Tries whether kernels of a CPU device write to the memory that a program gives to a buffer, and not to a copy of it.
bool computes_in_host_memory(DeviceState& device);

/// Creates a read-write buffer of `bytes` in memory of the process; sets `error` as clCreateBuffer does.
cl_mem create_host_buffer(DeviceState& device, std::uint64_t bytes, cl_int& error);

/// The elements of a block while nothing is queued. Null if the device does not compute in host memory, or if the
/// driver allocated the memory.
std::byte* host_address(const Block& block);

/// A block over memory of the caller's. Null if the device does not compute in host memory.
BlockPtr block_over(DeviceState& device, void* memory, std::uint64_t bytes);

/// Whether the memory of a block that is not of the pool begins at a multiple of `alignment` bytes.
bool begins_aligned(const Block& block, std::uint64_t alignment);

}  // namespace crisol::runtime
