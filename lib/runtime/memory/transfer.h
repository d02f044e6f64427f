// Copies of bytes between the host and a device, and within a device.
#pragma once

#include <cstddef>
#include <memory>

#include "runtime/memory/memory_pool.h"

namespace crisol::runtime {

/// Queues a copy of host bytes to the block, from byte `offset` on. The caller may change the host bytes as soon as the
/// call returns.
void write(Block& block, std::uint64_t offset, const void* bytes, std::size_t size);

/// A new block with a copy of host bytes. On a CPU device that computes in the host's memory, nothing is queued if the
/// pool has memory that no queued command uses.
BlockPtr copy_to_new_block(DeviceState& device, const void* bytes, std::size_t size, const Shape& shape, DType dtype);

/// Like write, but waits for the copy. So the host bytes need not be copied first.
void write_now(Block& block, std::uint64_t offset, const void* bytes, std::size_t size);

/// Like write, but on a second queue, which runs at the same time as earlier work. All work that is queued later waits
/// for the copy. Takes ownership of the bytes.
void write_beside(Block& block, std::uint64_t offset, std::unique_ptr<std::byte[]> bytes, std::size_t size);

/// Waits for all queued work, then copies bytes of the block, from byte `offset` on, to the host. Then throws if the
/// work has noted a wrong label or index (see fault_flag.h).
void read(const Block& block, std::uint64_t offset, void* bytes, std::size_t size);

/// Queues a copy between blocks of one device; ranges of the same block must not overlap.
void copy(const Block& from, std::uint64_t from_offset, const Block& to, std::uint64_t to_offset, std::size_t size);

/// Queues a fill with a repeated pattern of 1, 2, 4 or 8 bytes. `size` and `offset` are multiples of the pattern's
/// size.
void fill(Block& block, std::uint64_t offset, std::size_t size, const void* pattern, std::size_t pattern_size);

/// Waits for all queued work of a device.
void finish(DeviceState& device);

}  // namespace crisol::runtime
