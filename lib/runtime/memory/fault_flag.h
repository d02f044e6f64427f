// A few words of a device in which kernels note wrong values that the host cannot see without waiting.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "runtime/launch.h"

namespace crisol::runtime {

class DeviceState;

/// What an op's wrong values are. `label` and `index` count from 0. `position`: positions along one axis, where the op
/// has added the size to negative positions. `joined`: joined positions along several axes, where the op wrote -1 for
/// wrong ones. `range`: the bits of an element as a float. `weights`: 1 for a weight that cannot be one, 0 for a row
/// without a weight above 0.
enum class FaultKind : std::uint8_t { label, index, position, joined, range, weights };

/// The number by which kernels note wrong values of an op (cl_kernels/common/fault.h), from 1. The same arguments give
/// the same number in this process. The name of the op must live as long as the process. `bounds` belongs to
/// FaultKind::range.
std::int32_t fault_number(const char* op, FaultKind kind, std::string_view bounds = {});

/// Every read to the host also reads the words, if a kernel that may write them was queued since the last read. The
/// words are read before the values, so the read waits no longer. A device that computes in host memory has them there,
/// so nothing is queued for them.
class FaultFlag {
 public:
  /// The number of the op, the wrong value, and the size of its range.
  using Words = std::array<std::int64_t, 3>;

  explicit FaultFlag(DeviceState& device) : device_(device) {}

  /// The words as an argument of a kernel. They are made, as zeros, at the first call.
  BufferView words();
  /// Call it when work that may write the words was queued.
  void expect() noexcept { expected_.store(true, std::memory_order_release); }
  bool owns(const Block& block) const noexcept { return block_.load(std::memory_order_acquire) == &block; }

  /// Begins a read of the words, if they may have been written. Otherwise returns nothing. Queues a command if the
  /// words are not in host memory.
  std::unique_ptr<Words> begin_read();
  /// Call it when the wait for a read has failed. The next read then looks again.
  void abandon(std::unique_ptr<Words> words);
  /// Ends a read. All that was queued before it must be done. If a value was noted, sets the words to zero again and
  /// throws invalid_argument, which names op, value and range.
  void check(std::unique_ptr<Words> words);

 private:
  DeviceState& device_;
  std::atomic<bool> expected_{false};
  std::once_flag made_;
  alignas(128) Words own_{};  ///< The words, if the device computes in host memory.
  bool is_own_ = false;
  BlockPtr owner_;
  std::atomic<const Block*> block_{nullptr};
  std::mutex abandoned_mutex_;
  std::vector<std::unique_ptr<Words>> abandoned_;  ///< Words of failed reads. A lost device may still write to them at
                                                   /// any time.
};

FaultFlag& fault_flag_of(DeviceState& device) noexcept;

}  // namespace crisol::runtime
