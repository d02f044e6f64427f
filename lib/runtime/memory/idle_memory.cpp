// Free memory of the pool that no queued command uses, so that the host may write to it.
#include <algorithm>
#include <iterator>

#include "runtime/device/device_state.h"

namespace crisol::runtime {

std::uint64_t MemoryPool::begin_wait() {
  const std::lock_guard lock(mutex_);
  return ++begun_waits_;
}

void MemoryPool::end_wait(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  ended_wait_ = std::max(ended_wait_, number);
}

// The commands that use free memory were queued before it became free. So a wait that began later waited for them.
BlockPtr MemoryPool::allocate_idle(std::uint64_t bytes, const BlockContents& contents) {
  constexpr std::ptrdiff_t most_tried = 4;
  auto block = std::make_shared<PooledBlock>(device_, contents, nullptr);
  const std::lock_guard lock(mutex_);
  const auto end = free_.upper_bound(bytes + bytes / 4);
  for (auto at = free_.lower_bound(bytes); at != end; ++at) {
    auto& [size, list] = *at;
    const auto last = list.rbegin() + std::min(std::ssize(list), most_tried);
    const auto found =
        std::find_if(list.rbegin(), last, [&](const FreeBuffer& buffer) { return buffer.waits < ended_wait_; });
    if (found == last) continue;
    _cl_mem* const memory = found->memory;
    list.erase(std::next(found).base());
    stats_.cached -= size;
    give(*block, memory, size);
    return block;
  }
  return nullptr;
}

}  // namespace crisol::runtime
