// Addresses that stand for device memory. The address space is reserved, and nobody can read it. So arithmetic on
// data_ptr() holds, and a host that reads such an address stops at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace crisol_torch {

/// The addresses of all devices. Each device has a part of its own.
class Addresses {
 public:
  /// The object of this process. It lives until the process ends.
  static Addresses& of_process();

  /// Size and owner of the ranges, by the first address.
  using Ranges = std::map<std::uintptr_t, std::pair<std::size_t, void*>>;
  using Range = Ranges::iterator;

  /// A range of `bytes` for a device. No other range overlaps it until give_back. Throws std::bad_alloc if no
  /// addresses are left.
  Range take(int device, std::size_t bytes, void* owner);
  void give_back(int device, Range range) noexcept;

  /// The device of an address, or -1 for other addresses.
  int device_of(const void* address) const noexcept;
  /// The owner of the range that holds an address, and the first byte of the range. The owner is null for an address of
  /// no range.
  struct Found {
    void* owner;
    std::size_t offset;
  };
  Found find(const void* address) const;

 private:
  Addresses();
  // A range of this many bytes is free to take. Sizes are rounded up, so that few different sizes exist.
  static std::size_t rounded(std::size_t bytes) noexcept;

  struct Part {
    std::uintptr_t next = 0, end = 0;
    std::unordered_map<std::size_t, std::vector<Range>> free;  ///< Ranges that were given back, by their size.
  };

  mutable std::mutex mutex_;
  std::uintptr_t base_ = 0;
  std::uintptr_t part_bytes_ = 0;
  std::vector<Part> parts_;
  /// A range that was given back stays, without an owner, so that the next one of its size allocates nothing.
  Ranges ranges_;
};

}  // namespace crisol_torch
