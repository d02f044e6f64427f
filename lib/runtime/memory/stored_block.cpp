#include "runtime/memory/stored_block.h"

#include "base/thread_context.h"
#include "runtime/capture/capturer.h"

namespace crisol::runtime {

BlockPtr StoredBlock::lend() const {
  if (kept_ != nullptr) return kept_;
  BlockPtr block = lent_.lock();
  if (block != nullptr) return block;
  // The read is not captured, because a replay only reads the elements. It also runs in a dry run, which may need their
  // values.
  const PauseCapture pause;
  block = read_();
  lent_ = block;
  return block;
}

_cl_mem* StoredBlock::read_memory() const {
  if (BorrowedBlocks* const borrowed = thread_context().program.borrowed) {
    BlockPtr& own = borrowed->blocks_[this];
    if (own == nullptr) {
      const std::lock_guard lock(mutex_);
      own = lend();
    }
    return own->memory();
  }
  const std::lock_guard lock(mutex_);
  if (kept_ == nullptr) {
    kept_ = lend();
    read_ = nullptr;
    set_memory(kept_->memory());
  }
  return kept_->memory();
}

BorrowedBlocks::BorrowedBlocks() noexcept : outer_(thread_context().program.borrowed) {
  thread_context().program.borrowed = this;
}
BorrowedBlocks::~BorrowedBlocks() { thread_context().program.borrowed = outer_; }

void BorrowedBlocks::give_back_unused() {
  const Capturer* const capturer = current_capturer();
  std::erase_if(blocks_, [&](const auto& one) {
    return one.second == nullptr || capturer == nullptr || !capturer->uses(*one.second);
  });
}

std::vector<BlockPtr> BorrowedBlocks::take() {
  std::vector<BlockPtr> blocks;
  blocks.reserve(blocks_.size());
  for (auto& [stored, block] : blocks_) blocks.push_back(std::move(block));
  blocks_.clear();
  return blocks;
}

}  // namespace crisol::runtime
