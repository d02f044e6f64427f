// Who holds the memory of a device: the blocks of the pool that are in use, by the op that made them and their shape.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "crisol/dtype.h"
#include "crisol/shape.h"
#include "runtime/memory/memory_pool.h"

namespace crisol::runtime {

/// What a block is for: a tensor, or something else, such as the workspace of an op.
struct BlockContents {
  Shape shape;
  DType dtype = DType::f32;
  bool is_tensor = false;
};

/// A block of the pool.
class HeldBlock final : public Block {
 public:
  using Block::Block;
  ~HeldBlock();

  /// Adds the block to the holders of its device, under the name of the op that the thread runs. Without an op,
  /// name_block names it later. Called once, by allocate.
  void hold(const BlockContents& contents) noexcept;

  const BlockContents& contents() const noexcept { return contents_; }
  const char* op() const noexcept { return op_.load(std::memory_order_relaxed); }
  void set_op(const char* op) noexcept { op_.store(op, std::memory_order_relaxed); }

 private:
  friend class MemoryHolders;
  std::atomic<const char*> op_{nullptr};
  BlockContents contents_;
  bool held_ = false;
  HeldBlock *before_ = nullptr, *after_ = nullptr;
};

/// Says which op made the contents of a block, unless that is known. `op` lives as long as the process.
inline void name_block(const Block& block, const char* op) noexcept {
  if (!block.pooled()) return;
  // Every pooled block is a HeldBlock, which the pool does not give out as const.
  auto& held = const_cast<HeldBlock&>(static_cast<const HeldBlock&>(block));
  if (held.op() == nullptr) held.set_op(op);
}

/// "(64, 10) f32" for a tensor's block, and the bytes of another block.
std::string contents_text(const Block& block);

/// The blocks of a device that are in use.
class MemoryHolders {
 public:
  void add(HeldBlock& block) noexcept;
  void remove(HeldBlock& block) noexcept;

  /// The groups of equal blocks that hold most: "conv2d (64, 64, 112, 112) f32: 3 × 196 MiB; …". Empty without blocks.
  std::string largest() const;

 private:
  mutable std::mutex mutex_;
  HeldBlock* first_ = nullptr;
};

/// "196 MiB", "1.5 GiB", "512 bytes".
std::string bytes_text(std::uint64_t bytes);

/// allocate (memory_pool.h) for a tensor.
BlockPtr allocate(DeviceState& device, std::uint64_t bytes, const Shape& shape, DType dtype);

}  // namespace crisol::runtime
