// Device memory: blocks that return to a pool when their last owner is destroyed.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "crisol/device.h"
#include "runtime/memory/block.h"

namespace crisol::runtime {

/// At least `bytes` of device memory with undefined contents. Throws out_of_memory, with the pool's statistics, if a
/// single buffer of that size is not possible. It also throws if no memory is left even after the cached blocks were
/// released.
BlockPtr allocate(DeviceState& device, std::uint64_t bytes);
/// The same, for the elements of a tensor.
BlockPtr allocate(DeviceState& device, std::uint64_t bytes, const Shape& shape, DType dtype);

struct FreeBuffer {
  _cl_mem* memory;
  std::uint64_t waits = 0;  ///< How many waits for the queue had begun when the memory became free.
};
/// Free memory by its size. A list that became empty stays, so that the next entry of the size allocates nothing.
using FreeMemory = std::map<std::uint64_t, std::vector<FreeBuffer>>;

class Capturer;

/// The free memory by size, the blocks in use, and the statistics.
class MemoryPool {
 public:
  explicit MemoryPool(DeviceState& device) : device_(device) {}

  BlockPtr allocate(std::uint64_t bytes, const BlockContents& contents);
  /// The same, in free memory that no queued command uses. Null if there is none.
  BlockPtr allocate_idle(std::uint64_t bytes, const BlockContents& contents);
  /// Call these around a wait for all work of the queue that succeeds. The first one gives the number of the wait.
  std::uint64_t begin_wait();
  void end_wait(std::uint64_t number);
  /// Gives memory to a block that a capture planned.
  void provide(PooledBlock& block);
  /// Takes back the memory of a block that is destroyed.
  void take_back(PooledBlock& block) noexcept;
  /// Reserves the memory of a block for the thread that captures with it (see capturer.h). After the block is returned,
  /// no other thread gets the memory until release_reserved was called as often as reserve.
  void reserve(_cl_mem* memory);
  void release_reserved(_cl_mem* memory) noexcept;
  /// Returns all free memory to OpenCL. The result is the number of released bytes.
  std::uint64_t release_cached();

  MemoryStats stats() const;
  void reset_peak();
  void set_limit(std::uint64_t bytes);

 private:
  struct Reserved {
    std::uint64_t bytes = 0;  ///< Set while no block uses the memory.
    int graphs = 0;
    bool idle = false;
  };

  void find_memory(PooledBlock& block, std::uint64_t bytes, Capturer* capturer);
  // These functions look for memory of at least that size for a block. They return whether they found memory.
  bool take_reserved(PooledBlock& block, Capturer& capturer, std::uint64_t bytes);
  bool take_cached(PooledBlock& block, std::uint64_t bytes);
  bool create(PooledBlock& block, std::uint64_t bytes);
  void give(PooledBlock& block, _cl_mem* memory, std::uint64_t bytes) noexcept;
  void put_free(_cl_mem* memory, std::uint64_t bytes) noexcept;
  [[noreturn]] void fail_out_of_memory(std::uint64_t bytes, const char* why) const;
  /// The groups of equal blocks that hold the most memory: "conv2d (64, 64, 112, 112) f32: 3 × 196 MiB; …". Empty if
  /// there are no blocks.
  std::string largest_holders() const;

  DeviceState& device_;
  mutable std::mutex mutex_;
  FreeMemory free_;
  std::unordered_map<_cl_mem*, Reserved> reserved_;
  PooledBlock* in_use_ = nullptr;  ///< The block that was given out last: the head of the list.
  MemoryStats stats_;
  std::uint64_t limit_ = 0;
  std::uint64_t begun_waits_ = 0, ended_wait_ = 0;
};

}  // namespace crisol::runtime
