#include "runtime/memory/block.h"

#include "base/bytes_text.h"
#include "base/forked.h"
#include "base/text.h"
#include "runtime/device/device_state.h"
#include "runtime/memory/stored_block.h"

namespace crisol::runtime {

Block::~Block() {
  if (kind_ == Kind::shared && !system::forked()) clReleaseMemObject(memory_);
}

_cl_mem* Block::stored_memory() const {
  return kind_ == Kind::stored ? static_cast<const StoredBlock&>(*this).read_memory() : nullptr;
}

PooledBlock::~PooledBlock() {
  if (memory() != nullptr && !system::forked()) device().pool().take_back(*this);
}

bool is_planned(const Block& block) noexcept {
  return block.pooled() && static_cast<const PooledBlock&>(block).planned_ != 0;
}

std::string contents_text(const Block& block) {
  if (block.pooled()) {
    const BlockContents& contents = static_cast<const PooledBlock&>(block).contents();
    if (contents.is_tensor) return concat(contents.shape, ' ', contents.dtype);
  }
  return bytes_text(block.bytes());
}

}  // namespace crisol::runtime
