// Device memory: blocks that return to a pool when their last owner is destroyed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "crisol/device.h"

struct _cl_mem;

namespace crisol::runtime {

class DeviceState;

/// One OpenCL buffer. Its memory may be reused as soon as the Block is destroyed, even while kernels that use it are
/// queued. The device has one in-order queue, so the work of the next user runs after these kernels.
class Block {
 public:
  /// If `pooled`, the memory goes to the pool at the end. Otherwise the memory belongs to another owner, and one
  /// reference is released.
  Block(DeviceState& device, _cl_mem* memory, std::uint64_t bytes, bool pooled = true) noexcept
      : device_(device), memory_(memory), bytes_(bytes), pooled_(pooled) {}
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  DeviceState& device() const noexcept { return device_; }
  _cl_mem* memory() const noexcept { return memory_; }
  std::uint64_t bytes() const noexcept { return bytes_; }
  bool pooled() const noexcept { return pooled_; }

 private:
  DeviceState& device_;
  _cl_mem* memory_;
  std::uint64_t bytes_;
  bool pooled_;
};

using BlockPtr = std::shared_ptr<Block>;

/// At least `bytes` of device memory with undefined contents. Throws out_of_memory, with the pool's statistics, if a
/// single buffer of that size is not possible. It also throws if no memory is left even after the cached blocks were
/// released.
BlockPtr allocate(DeviceState& device, std::uint64_t bytes);

/// Free memory by its size. A list that became empty stays, so that the next entry of the size allocates nothing.
using FreeMemory = std::map<std::uint64_t, std::vector<_cl_mem*>>;

class Capturer;

/// The free blocks by size, and the statistics.
class MemoryPool {
 public:
  explicit MemoryPool(DeviceState& device) : device_(device) {}

  BlockPtr allocate(std::uint64_t bytes);
  void take_back(_cl_mem* memory, std::uint64_t bytes) noexcept;
  /// Reserves the memory of a block for the thread that captures with it (see capturer.h). When the block is returned,
  /// no other thread gets the memory until release_reserved was called as often as reserve.
  void reserve(_cl_mem* memory);
  void release_reserved(_cl_mem* memory) noexcept;
  /// Returns every free block to OpenCL. The result is the number of released bytes.
  std::uint64_t release_cached();

  MemoryStats stats() const;
  void reset_peak();
  void set_limit(std::uint64_t bytes);

 private:
  struct Reserved {
    std::uint64_t bytes = 0;  ///< Known while no block uses it.
    int graphs = 0;
    bool idle = false;
  };

  // The functions that find memory count it as used. If they take a reference, they set it
  // to the size of the memory that they found.
  _cl_mem* take_reserved(Capturer& capturer, std::uint64_t& bytes);
  _cl_mem* take_cached(std::uint64_t& bytes);
  _cl_mem* create(std::uint64_t bytes);
  void count_used(std::uint64_t bytes) noexcept;
  void put_free(_cl_mem* memory, std::uint64_t bytes) noexcept;
  [[noreturn]] void fail_out_of_memory(std::uint64_t bytes, const char* why) const;

  DeviceState& device_;
  mutable std::mutex mutex_;
  FreeMemory free_;
  std::unordered_map<_cl_mem*, Reserved> reserved_;
  MemoryStats stats_;
  std::uint64_t limit_ = 0;
};

}  // namespace crisol::runtime
