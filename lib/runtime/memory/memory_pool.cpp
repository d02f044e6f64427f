#include "runtime/memory/memory_pool.h"

#include <vector>

#include "base/forked.h"
#include "base/text.h"
#include "runtime/capture/capturer.h"
#include "runtime/device/device_state.h"
#include "runtime/memory/large_pages.h"
#include "runtime/memory/memory_holders.h"
#include "runtime/trace/timeline.h"
#include "runtime/verbose.h"

namespace crisol::runtime {

namespace {

// Rounds sizes up to eighths of a power of two. Tensors of slightly different sizes can then reuse each other's blocks,
// and at most 12.5 % is lost.
std::uint64_t rounded(std::uint64_t bytes) {
  std::uint64_t step = 512;
  while (step * 8 < bytes) step *= 2;
  return bytes == 0 ? step : (bytes + step - 1) / step * step;
}

// What the pool may take in total. Drivers may promise more than a device has, and fail or slow down when it is used.
// So without a limit of the user's the device's memory is the limit. A driver that does not tell it has none.
std::uint64_t total_limit(std::uint64_t of_user, const DeviceInfo& info) noexcept {
  if (of_user != 0) return of_user;
  return info.global_memory != 0 ? info.global_memory : UINT64_MAX;
}

// Memory of at least that size and at most a quarter more, or nullptr. The memory that was freed last comes first,
// because a CPU may still have it in its caches. Sets `bytes` to the size.
_cl_mem* take_from(FreeMemory& free, std::uint64_t& bytes) {
  const std::uint64_t most = bytes + bytes / 4;
  for (auto at = free.lower_bound(bytes); at != free.end() && at->first <= most; ++at) {
    auto& [size, list] = *at;
    if (list.empty()) continue;
    _cl_mem* const memory = list.back();
    list.pop_back();
    bytes = size;
    return memory;
  }
  return nullptr;
}

}  // namespace

Block::~Block() {
  if (system::forked()) return;
  if (pooled_)
    device_.pool().take_back(memory_, bytes_);
  else
    clReleaseMemObject(memory_);
}

void MemoryPool::fail_out_of_memory(std::uint64_t bytes, const char* why) const {
  MemoryStats now;
  std::uint64_t limit = 0;
  {
    const std::lock_guard lock(mutex_);
    now = stats_;
    limit = limit_;
  }
  const std::uint64_t device_memory = device_.info().global_memory;
  std::string reason = why, holders = device_.holders().largest();
  if (now.in_use + now.captured + bytes > total_limit(limit, device_.info()))
    reason = limit != 0 ? concat("the limit of set_memory_limit is ", bytes_text(limit), " (", limit, " bytes)")
                        : concat("the device has ", bytes_text(device_memory),
                                 "; set_memory_limit allows more where its driver can give it");
  if (!holders.empty()) holders = ". Largest holders: " + holders;
  fail(ErrorCode::out_of_memory, "memory", "cannot allocate ", bytes_text(bytes), " (", bytes, " bytes) on ",
       device_.info().name, ": ", reason, ". In use ", bytes_text(now.in_use), ", cached ", bytes_text(now.cached),
       ", held by captured graphs ", bytes_text(now.captured), ", peak ", bytes_text(now.peak), ", device memory ",
       bytes_text(device_memory), holders);
}

BlockPtr MemoryPool::allocate(std::uint64_t bytes) {
  if (bytes > device_.info().max_allocation)
    fail_out_of_memory(bytes, "larger than the device's largest single buffer");
  std::uint64_t size = std::min(rounded(bytes), std::max<std::uint64_t>(bytes, device_.info().max_allocation));
  Capturer* const capturer = capturer_of(device_);
  _cl_mem* memory = capturer == nullptr ? nullptr : take_reserved(*capturer, size);
  if (memory == nullptr) memory = take_cached(size);
  if (memory == nullptr) memory = create(size);
  if (memory == nullptr) {
    // Queued work may still use cached memory. OpenCL frees a released buffer when this work is done.
    const std::uint64_t released = release_cached();
    device_.finish();
    say(Topic::memory, "out of memory for ", size, " bytes; released ", released, " cached bytes and trying again");
    memory = create(size);
  }
  if (memory == nullptr) fail_out_of_memory(size, "memory is exhausted");
  try {
    if (capturer != nullptr) capturer->note_made(memory);
    return std::make_shared<HeldBlock>(device_, memory, size);
  } catch (...) {
    take_back(memory, size);
    throw;
  }
}

_cl_mem* MemoryPool::take_cached(std::uint64_t& bytes) {
  const std::lock_guard lock(mutex_);
  _cl_mem* memory = take_from(free_, bytes);
  if (memory == nullptr) return nullptr;
  stats_.cached -= bytes;
  count_used(bytes);
  return memory;
}

_cl_mem* MemoryPool::take_reserved(Capturer& capturer, std::uint64_t& bytes) {
  const std::lock_guard lock(mutex_);
  _cl_mem* memory = take_from(capturer.idle, bytes);
  if (memory == nullptr) return nullptr;
  reserved_.at(memory).idle = false;
  stats_.captured -= bytes;
  count_used(bytes);
  return memory;
}

void MemoryPool::count_used(std::uint64_t bytes) noexcept {
  stats_.in_use += bytes;
  stats_.peak = std::max(stats_.peak, stats_.in_use);
  trace_memory(device_.index(), stats_);
}

void MemoryPool::reserve(_cl_mem* memory) {
  const std::lock_guard lock(mutex_);
  ++reserved_[memory].graphs;
}

void MemoryPool::release_reserved(_cl_mem* memory) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = reserved_.find(memory);
  if (--found->second.graphs > 0) return;
  const Reserved last = found->second;
  reserved_.erase(found);
  if (!last.idle) return;
  stats_.captured -= last.bytes;
  put_free(memory, last.bytes);
}

_cl_mem* MemoryPool::create(std::uint64_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    const std::uint64_t taken = stats_.in_use + stats_.cached + stats_.captured;
    if (taken + bytes > total_limit(limit_, device_.info())) return nullptr;
  }
  cl_int error = CL_SUCCESS;
  TraceSlice slice("memory", "new buffer");
  slice.note("bytes", bytes);
  _cl_mem* memory = create_buffer(device_, bytes, error);
  if (error != CL_SUCCESS) {
    if (is_memory_error(error)) return nullptr;
    check_cl(error, "clCreateBuffer");
  }
  const std::lock_guard lock(mutex_);
  ++stats_.allocations;
  say(Topic::memory, "new buffer of ", bytes, " bytes; in use ", stats_.in_use, ", cached ", stats_.cached);
  count_used(bytes);
  return memory;
}

void MemoryPool::take_back(_cl_mem* memory, std::uint64_t bytes) noexcept {
  Capturer* capturer = current_capturer();
  const std::lock_guard lock(mutex_);
  stats_.in_use -= bytes;
  trace_memory(device_.index(), stats_);
  const auto reserved = reserved_.find(memory);
  if (reserved == reserved_.end()) {
    put_free(memory, bytes);
    return;
  }
  reserved->second.idle = true;
  reserved->second.bytes = bytes;
  stats_.captured += bytes;
  if (capturer == nullptr || !capturer->made(memory)) return;
  try {
    capturer->idle[bytes].push_back(memory);
  } catch (...) {  // No host memory for the list. Later commands then cannot use this block.
  }
}

void MemoryPool::put_free(_cl_mem* memory, std::uint64_t bytes) noexcept {
  try {
    free_[bytes].push_back(memory);
    stats_.cached += bytes;
  } catch (...) {
    clReleaseMemObject(memory);  // No host memory for the list, so the block is released.
  }
}

std::uint64_t MemoryPool::release_cached() {
  FreeMemory released;
  std::uint64_t bytes = 0;
  {
    const std::lock_guard lock(mutex_);
    released.swap(free_);
    bytes = stats_.cached;
    stats_.cached = 0;
  }
  for (const auto& [size, list] : released)
    for (_cl_mem* const memory : list) clReleaseMemObject(memory);
  return bytes;
}

MemoryStats MemoryPool::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

void MemoryPool::reset_peak() {
  const std::lock_guard lock(mutex_);
  stats_.peak = stats_.in_use;
}

void MemoryPool::set_limit(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  limit_ = bytes;
}

}  // namespace crisol::runtime
