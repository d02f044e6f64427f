#include "runtime/memory/memory_pool.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/bytes_text.h"
#include "base/text.h"
#include "runtime/capture/capturer.h"
#include "runtime/device/device_state.h"
#include "runtime/dry_run.h"
#include "runtime/memory/large_pages.h"
#include "runtime/op_scope.h"
#include "runtime/timeline/timeline.h"
#include "runtime/verbose.h"

namespace crisol::runtime {

namespace {

// Rounds sizes up to eighths of a power of two, or to 128 KiB if that is less. So tensors of slightly different sizes
// can reuse each other's blocks. At most 12.5 % of the memory is lost, and at most 128 KiB.
std::uint64_t rounded(std::uint64_t bytes) {
  constexpr std::uint64_t longest_step = 1 << 17;
  std::uint64_t step = 512;
  while (step * 8 < bytes && step < longest_step) step *= 2;
  return bytes == 0 ? step : (bytes + step - 1) / step * step;
}

// The bytes that the pool may take in total. Drivers may promise more memory than a device has, and fail or slow down
// when it is used. So if the user sets no limit, the size of the device's memory is the limit. If the driver does not
// report this size, there is no limit.
std::uint64_t total_limit(std::uint64_t of_user, const DeviceInfo& info) noexcept {
  if (of_user != 0) return of_user;
  return info.global_memory != 0 ? info.global_memory : UINT64_MAX;
}

// Takes free memory of at least `bytes` and at most `most` bytes, or returns nullptr. Prefers the memory that was freed
// last, because a CPU may still have it in its caches. Sets `bytes` to the memory's size.
_cl_mem* take_from(FreeMemory& free, std::uint64_t& bytes, std::uint64_t most) {
  for (auto at = free.lower_bound(bytes); at != free.end() && at->first <= most; ++at) {
    auto& [size, list] = *at;
    if (list.empty()) continue;
    _cl_mem* const memory = list.back().memory;
    list.pop_back();
    bytes = size;
    return memory;
  }
  return nullptr;
}

}  // namespace

BlockPtr allocate(DeviceState& device, std::uint64_t bytes) { return device.pool().allocate(bytes, {}); }

BlockPtr allocate(DeviceState& device, std::uint64_t bytes, const Shape& shape, DType dtype) {
  return device.pool().allocate(bytes, {shape, dtype, true});
}

std::string MemoryPool::largest_holders() const {
  constexpr std::size_t most = 5;
  using Group = std::pair<std::string, std::uint64_t>;  // Contents and op as a text, and the bytes of one block.
  std::map<Group, std::uint64_t> counts;
  {
    const std::lock_guard lock(mutex_);
    for (const PooledBlock* block = in_use_; block != nullptr; block = block->after_) {
      const std::string op = block->op() == nullptr ? "unused" : block->op();
      const std::string what = block->contents().is_tensor ? contents_text(*block) : "workspace";
      ++counts[{concat(op, ' ', what), block->bytes()}];
    }
  }
  std::vector<std::pair<Group, std::uint64_t>> groups(counts.begin(), counts.end());
  const auto bytes_of = [](const auto& group) { return group.first.second * group.second; };
  std::stable_sort(groups.begin(), groups.end(),
                   [&](const auto& a, const auto& b) { return bytes_of(a) > bytes_of(b); });
  std::string text;
  for (std::size_t i = 0; i < std::min(most, groups.size()); ++i) {
    const auto& [group, count] = groups[i];
    text += concat(i == 0 ? "" : "; ", group.first, ": ", count, " × ", bytes_text(group.second));
  }
  if (groups.size() > most) text += concat("; and ", groups.size() - most, " more");
  return text;
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
  std::string reason = why, holders = largest_holders();
  const bool fits_buffer = bytes <= device_.info().max_allocation;
  if (fits_buffer && now.in_use + now.captured + bytes > total_limit(limit, device_.info()))
    reason = limit != 0 ? concat("the limit of set_memory_limit is ", bytes_text(limit), " (", limit, " bytes)")
                        : concat("the device has ", bytes_text(device_memory),
                                 "; set_memory_limit allows more where its driver can give it");
  if (!holders.empty()) holders = ". Largest holders: " + holders;
  fail(ErrorCode::out_of_memory, "memory", "cannot allocate ", bytes_text(bytes), " (", bytes, " bytes) on ",
       device_.info().name, ": ", reason, ". In use ", bytes_text(now.in_use), ", cached ", bytes_text(now.cached),
       ", held by captured graphs ", bytes_text(now.captured), ", peak ", bytes_text(now.peak), ", device memory ",
       bytes_text(device_memory), holders);
}

BlockPtr MemoryPool::allocate(std::uint64_t bytes, const BlockContents& contents) {
  if (bytes > device_.info().max_allocation)
    fail_out_of_memory(bytes, "larger than the device's largest single buffer");
  auto block = std::make_shared<PooledBlock>(device_, contents, current_op());
  Capturer* const capturer = capturer_of(device_);
  if (capturer != nullptr && capturer->plans_memory()) {
    block->bytes_ = std::max<std::uint64_t>(bytes, 1);
    capturer->plan(block);
  } else {
    find_memory(*block, bytes, capturer);
  }
  if (capturer != nullptr) block->made_for_ = capturer->number();
  if (in_dry_run()) note_no_values(*block);
  return block;
}

void MemoryPool::provide(PooledBlock& block) { find_memory(block, block.bytes(), nullptr); }

void MemoryPool::find_memory(PooledBlock& block, std::uint64_t bytes, Capturer* capturer) {
  const std::uint64_t size = std::min(rounded(bytes), std::max<std::uint64_t>(bytes, device_.info().max_allocation));
  bool found = capturer != nullptr && take_reserved(block, *capturer, size);
  found = found || take_cached(block, size) || create(block, size);
  if (!found) {
    // Queued work may still use cached memory. OpenCL frees a released buffer when this work is done.
    const std::uint64_t released = release_cached();
    device_.finish();
    log(Topic::memory, "out of memory for ", size, " bytes; released ", released, " cached bytes and trying again");
    if (!create(block, size)) fail_out_of_memory(size, "memory is exhausted");
  }
}

bool MemoryPool::take_cached(PooledBlock& block, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  _cl_mem* const memory = take_from(free_, bytes, bytes + bytes / 4);
  if (memory == nullptr) return false;
  stats_.cached -= bytes;
  give(block, memory, bytes);
  return true;
}

bool MemoryPool::take_reserved(PooledBlock& block, Capturer& capturer, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  // A block that is up to three times too large is accepted. The graph keeps all its memory as long as it lives, so a
  // new block would waste more.
  _cl_mem* const memory = take_from(capturer.idle, bytes, 3 * bytes);
  if (memory == nullptr) return false;
  reserved_.at(memory).idle = false;
  stats_.captured -= bytes;
  give(block, memory, bytes);
  return true;
}

// One lock guards the list of the blocks in use and the free memory, so that an op takes one lock for each tensor.
void MemoryPool::give(PooledBlock& block, _cl_mem* memory, std::uint64_t bytes) noexcept {
  block.memory_ = memory;
  block.bytes_ = bytes;
  block.after_ = in_use_;
  if (in_use_ != nullptr) in_use_->before_ = &block;
  in_use_ = &block;
  stats_.in_use += bytes;
  stats_.peak = std::max(stats_.peak, stats_.in_use);
  timeline_memory(device_.index(), stats_);
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

bool MemoryPool::create(PooledBlock& block, std::uint64_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    const std::uint64_t taken = stats_.in_use + stats_.cached + stats_.captured;
    if (taken + bytes > total_limit(limit_, device_.info())) return false;
  }
  cl_int error = CL_SUCCESS;
  TimelineSlice slice("memory", "new buffer");
  slice.note("bytes", bytes);
  _cl_mem* const memory = create_buffer(device_, bytes, error);
  if (error != CL_SUCCESS) {
    if (is_memory_error(error)) return false;
    check_cl(error, "clCreateBuffer");
  }
  const std::lock_guard lock(mutex_);
  ++stats_.allocations;
  log(Topic::memory, "new buffer of ", bytes, " bytes; in use ", stats_.in_use, ", cached ", stats_.cached);
  give(block, memory, bytes);
  return true;
}

void MemoryPool::take_back(PooledBlock& block) noexcept {
  _cl_mem* const memory = block.memory_;
  const std::uint64_t bytes = block.bytes_;
  Capturer* capturer = current_capturer();
  const std::lock_guard lock(mutex_);
  (block.before_ == nullptr ? in_use_ : block.before_->after_) = block.after_;
  if (block.after_ != nullptr) block.after_->before_ = block.before_;
  stats_.in_use -= bytes;
  timeline_memory(device_.index(), stats_);
  const auto reserved = reserved_.find(memory);
  if (reserved == reserved_.end()) {
    put_free(memory, bytes);
    return;
  }
  reserved->second.idle = true;
  reserved->second.bytes = bytes;
  stats_.captured += bytes;
  if (capturer == nullptr || block.made_for_ != capturer->number()) return;
  try {
    capturer->idle[bytes].push_back({memory});
  } catch (...) {  // There is no host memory for the list. So later commands cannot reuse this block.
  }
}

void MemoryPool::put_free(_cl_mem* memory, std::uint64_t bytes) noexcept {
  try {
    free_[bytes].push_back({memory, begun_waits_});
    stats_.cached += bytes;
  } catch (...) {
    clReleaseMemObject(memory);  // There is no host memory for the list, so the block is released.
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
    for (const FreeBuffer& buffer : list) clReleaseMemObject(buffer.memory);
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
