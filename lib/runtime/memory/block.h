// Device memory with an owner.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "crisol/dtype.h"
#include "crisol/shape.h"

struct _cl_mem;

namespace crisol::runtime {

class DeviceState;

/// One OpenCL buffer.
class Block {
 public:
  /// Memory that has another owner too. The block releases one reference.
  Block(DeviceState& device, _cl_mem* memory, std::uint64_t bytes) noexcept
      : device_(device), memory_(memory), bytes_(bytes), kind_(Kind::shared) {}
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  DeviceState& device() const noexcept { return device_; }
  /// May throw for a stored block, because its elements may have to be read (see stored_block.h). Other blocks do not
  /// throw.
  _cl_mem* memory() const {
    _cl_mem* const memory = memory_.load(std::memory_order_acquire);
    return memory != nullptr ? memory : stored_memory();
  }
  std::uint64_t bytes() const noexcept { return bytes_; }
  bool pooled() const noexcept { return kind_ == Kind::pooled; }
  /// Whether the memory comes from the pool. Pooled blocks and stored blocks have such memory.
  bool from_pool() const noexcept { return kind_ != Kind::shared; }
  /// Whether commands of a user's capture use the memory. If so, each replay uses it.
  bool is_captured() const noexcept { return is_captured_.load(std::memory_order_relaxed); }
  void set_captured() const noexcept { is_captured_.store(true, std::memory_order_relaxed); }

 protected:
  enum class Kind : std::uint8_t { shared, pooled, stored };
  /// A pooled block or a stored block. The pool sets memory and bytes of a pooled block. A stored block gets its memory
  /// later.
  Block(DeviceState& device, Kind kind, std::uint64_t bytes) noexcept : device_(device), bytes_(bytes), kind_(kind) {}
  void set_memory(_cl_mem* memory) const noexcept { memory_.store(memory, std::memory_order_release); }

 private:
  friend class MemoryPool;
  _cl_mem* stored_memory() const;

  DeviceState& device_;
  mutable std::atomic<_cl_mem*> memory_{nullptr};
  std::uint64_t bytes_ = 0;
  const Kind kind_;
  mutable std::atomic<bool> is_captured_{false};
};

using BlockPtr = std::shared_ptr<Block>;

/// The contents of a block: a tensor, or something else, such as the workspace of an op.
struct BlockContents {
  Shape shape;
  DType dtype = DType::f32;
  bool is_tensor = false;
};

/// A block of the pool. Its memory may be reused as soon as the block is destroyed, even while kernels that use it are
/// queued. The device has one in-order queue, so the work of the next user runs after these kernels.
class PooledBlock final : public Block {
 public:
  /// A block without memory. `op` is the op that makes it. If it is null, name_block sets the op later.
  PooledBlock(DeviceState& device, const BlockContents& contents, const char* op) noexcept
      : Block(device, Kind::pooled, 0), op_(op), contents_(contents) {}
  ~PooledBlock();

  const BlockContents& contents() const noexcept { return contents_; }
  const char* op() const noexcept { return op_.load(std::memory_order_relaxed); }
  void set_op(const char* op) noexcept { op_.store(op, std::memory_order_relaxed); }

 private:
  friend class MemoryPool;
  friend class Capturer;
  friend bool is_planned(const Block& block) noexcept;
  std::atomic<const char*> op_;
  const BlockContents contents_;
  /// The number of the capture for which the pool gave out the block, or 0. After the block is freed, only this capture
  /// may reuse its memory. Each replay may read memory from before the capture or from a pause.
  std::uint64_t made_for_ = 0;
  /// A number from 1 on while a capture has to place the block, which has no memory until then. Otherwise 0.
  std::size_t planned_ = 0;
  PooledBlock *before_ = nullptr, *after_ = nullptr;  ///< Neighbours in the pool's list of the blocks in use.
};

/// Whether a capture made the block and will give it memory when it ends (see Capturer::place_memory).
bool is_planned(const Block& block) noexcept;

/// Notes which op made the contents of a block, unless the op is known already. `op` lives as long as the process.
inline void name_block(const Block& block, const char* op) noexcept {
  if (!block.pooled()) return;
  // Casting away const is safe, because the pool makes no const blocks.
  auto& pooled = const_cast<PooledBlock&>(static_cast<const PooledBlock&>(block));
  if (pooled.op() == nullptr) pooled.set_op(op);
}

/// For a tensor's block "(64, 10) f32", and for another block its bytes.
std::string contents_text(const Block& block);

}  // namespace crisol::runtime
