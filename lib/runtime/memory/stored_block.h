// Device memory for elements that are kept elsewhere, such as in a file, and read when they are needed.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/memory/block.h"

namespace crisol::runtime {

/// A block without memory until somebody needs it. Then it keeps the memory, because the caller may write it or use it
/// later. A thread with BorrowedBlocks only borrows the memory. Any thread may ask for the memory.
class StoredBlock final : public Block {
 public:
  /// `read` gives a block of the pool with the elements. If it throws, so does the function that needs them, and the
  /// next one tries again.
  StoredBlock(DeviceState& device, std::uint64_t bytes, std::function<BlockPtr()> read)
      : Block(device, Kind::stored, bytes), read_(std::move(read)) {}

  /// memory() calls it while the block keeps no memory.
  _cl_mem* read_memory() const;

 private:
  friend class BorrowedBlocks;
  /// The memory that somebody has, or new memory. The caller holds the lock.
  BlockPtr lend() const;

  mutable std::mutex mutex_;
  mutable std::function<BlockPtr()> read_;  ///< Empty once the block keeps its memory.
  mutable std::weak_ptr<Block> lent_;       ///< Threads borrow it, and programs use it.
  mutable BlockPtr kept_;
};

/// While it lives, this thread borrows the memory of stored blocks, and gives it back when the object ends. So the
/// thread must not write the blocks, and must not keep their memory.
class BorrowedBlocks {
 public:
  BorrowedBlocks() noexcept;
  ~BorrowedBlocks();
  BorrowedBlocks(const BorrowedBlocks&) = delete;
  BorrowedBlocks& operator=(const BorrowedBlocks&) = delete;

  /// Gives back the blocks that the thread's captured commands do not use so far. Kernels that use this memory may be
  /// queued, because its next user runs behind them.
  void give_back_unused();
  /// The memory that is still borrowed. While somebody holds it, later borrowers and the block itself share it.
  std::vector<BlockPtr> take();

 private:
  friend class StoredBlock;
  BorrowedBlocks* const outer_;
  std::unordered_map<const StoredBlock*, BlockPtr> blocks_;
};

}  // namespace crisol::runtime
