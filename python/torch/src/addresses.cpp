#include "addresses.h"

#include <sys/mman.h>

#include <bit>
#include <new>

#include "device.h"

namespace crisol_torch {

Addresses& Addresses::of_process() {
  static Addresses* const addresses = new Addresses;  // Tensors may be freed after the destructors of statics ran.
  return *addresses;
}

Addresses::Addresses() {
  const auto devices = static_cast<std::size_t>(device_count());
  // A limit on the process's address space (ulimit -v) allows less. 1 TB for each device is more than any device has.
  for (std::size_t part = std::size_t{1} << 40; part >= std::size_t{1} << 30; part /= 2) {
    void* const base = mmap(nullptr, part * devices, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) continue;
    base_ = reinterpret_cast<std::uintptr_t>(base);
    part_bytes_ = part;
    break;
  }
  if (base_ == 0) throw std::bad_alloc();
  for (std::size_t i = 0; i < devices; ++i)
    parts_.push_back({base_ + i * part_bytes_, base_ + (i + 1) * part_bytes_, {}});
}

std::size_t Addresses::rounded(std::size_t bytes) noexcept {
  constexpr std::size_t smallest = 512;
  if (bytes <= smallest) return smallest;
  const std::size_t step = std::bit_floor(bytes) / 8;  // At most an eighth is lost.
  return (bytes + step - 1) / step * step;
}

Addresses::Range Addresses::take(int device, std::size_t bytes, void* owner) {
  const std::size_t size = rounded(bytes);
  const std::lock_guard lock(mutex_);
  Part& part = parts_[static_cast<std::size_t>(device)];
  if (std::vector<Range>& free = part.free[size]; !free.empty()) {
    const Range range = free.back();
    free.pop_back();
    range->second.second = owner;
    return range;
  }
  if (size > part.end - part.next) throw std::bad_alloc();
  const Range range = ranges_.emplace(part.next, std::pair(size, owner)).first;
  part.next += size;
  return range;
}

void Addresses::give_back(int device, Range range) noexcept {
  const std::lock_guard lock(mutex_);
  range->second.second = nullptr;
  parts_[static_cast<std::size_t>(device)].free[range->second.first].push_back(range);
}

int Addresses::device_of(const void* address) const noexcept {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  if (number < base_ || number >= base_ + part_bytes_ * parts_.size()) return -1;
  return static_cast<int>((number - base_) / part_bytes_);
}

Addresses::Found Addresses::find(const void* address) const {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard lock(mutex_);
  auto range = ranges_.upper_bound(number);
  if (range == ranges_.begin()) return {nullptr, 0};
  --range;
  const auto [first, rest] = *range;
  if (number - first >= rest.first) return {nullptr, 0};
  return {rest.second, number - first};
}

}  // namespace crisol_torch
