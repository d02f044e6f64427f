// Device memory for elements that are stored elsewhere, such as in a file, and read when they are needed.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/memory/block.h"

namespace crisol::runtime {

/// A block that has no memory until somebody asks for it. From then on it keeps the memory, because the caller may
/// write it or use it later. But a thread with BorrowedBlocks only borrows the memory. Any thread may ask for the
/// memory.
class StoredBlock final : public Block {
 public:
  /// `read` gives a block of the pool with the elements. If `read` throws, the function that needs the elements throws
  /// too, and the next one tries again.
  StoredBlock(DeviceState& device, std::uint64_t bytes, std::function<BlockPtr()> read)
      : Block(device, Kind::stored, bytes), read_(std::move(read)) {}

  /// Called by memory() while the block keeps no memory.
  _cl_mem* read_memory() const;

 private:
  friend class BorrowedBlocks;
  /// The memory that some thread has borrowed, or new memory. The caller holds the lock.
  BlockPtr lend() const;

  mutable std::mutex mutex_;
  mutable std::function<BlockPtr()> read_;  ///< Empty once the block keeps its memory.
  mutable std::weak_ptr<Block> lent_;       ///< Memory that threads borrow and programs use.
  mutable BlockPtr kept_;
};

/// While this object lives, its thread only borrows the memory of stored blocks. The object gives the memory back when
/// it is destroyed. So the thread must not write the blocks, and must not keep their memory.
class BorrowedBlocks {
 public:
  BorrowedBlocks() noexcept;
  ~BorrowedBlocks();
  BorrowedBlocks(const BorrowedBlocks&) = delete;
  BorrowedBlocks& operator=(const BorrowedBlocks&) = delete;

  /// Gives back the blocks that no captured command of the thread uses so far. Kernels that use this memory may still
  /// be queued: work of its next user runs after them.
  void give_back_unused();
  /// Returns the memory that is still borrowed. While the caller holds it, later borrowers and the block itself share
  /// it.
  std::vector<BlockPtr> take();

 private:
  friend class StoredBlock;
  BorrowedBlocks* const outer_;
  std::unordered_map<const StoredBlock*, BlockPtr> blocks_;
};

}  // namespace crisol::runtime
