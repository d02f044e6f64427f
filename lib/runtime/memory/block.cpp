#include "runtime/memory/block.h"

#include <cstdio>

#include "base/forked.h"
#include "base/text.h"
#include "runtime/device/device_state.h"

namespace crisol::runtime {

Block::~Block() {
  if (!pooled_ && !system::forked()) clReleaseMemObject(memory_);
}

PooledBlock::~PooledBlock() {
  if (memory() != nullptr && !system::forked()) device().pool().take_back(*this);
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 1024) return concat(bytes, " bytes");
  double amount = static_cast<double>(bytes);
  const char* unit = "";
  for (const char* next : {"KiB", "MiB", "GiB", "TiB"}) {
    if (amount < 1024) break;
    amount /= 1024;
    unit = next;
  }
  char text[40];
  std::snprintf(text, sizeof text, amount < 10 ? "%.1f %s" : "%.0f %s", amount, unit);
  return text;
}

std::string contents_text(const Block& block) {
  if (block.pooled()) {
    const BlockContents& contents = static_cast<const PooledBlock&>(block).contents();
    if (contents.is_tensor) return concat(contents.shape, ' ', contents.dtype);
  }
  return bytes_text(block.bytes());
}

}  // namespace crisol::runtime
