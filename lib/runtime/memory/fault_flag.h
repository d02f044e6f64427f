// A few words of a device in which kernels note wrong values that the host cannot see without waiting.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/launch.h"

namespace crisol::runtime {

class DeviceState;

/// The ops that note wrong labels (cl_kernels/common/fault.h). Kernels get the number.
enum class FaultOp : std::int32_t { none, cross_entropy, nll_loss };

/// Every read to the host looks at the words, if a kernel that may write them was queued since the last read. They
/// travel in front of the values, so the read waits no longer.
class FaultFlag {
 public:
  /// The op, the label, the number of classes.
  using Words = std::array<std::int64_t, 3>;

  explicit FaultFlag(DeviceState& device) : device_(device) {}

  /// The words as an argument of a kernel. They are made, as zeros, at the first call.
  BufferView words();
  /// Work that may write the words was queued.
  void expect() noexcept { expected_.store(true, std::memory_order_release); }
  bool owns(const Block& block) const noexcept { return block_.load(std::memory_order_acquire) == &block; }

  /// Queues a read of the words, if any may have been written; else returns nothing. The words are there when the
  /// queue has reached the read.
  std::unique_ptr<Words> begin_read();
  /// The wait for a read has failed: the next read looks again.
  void abandon(std::unique_ptr<Words> words);
  /// Throws invalid_argument, naming op, label and range, if a label was noted; the words are zero again then.
  void check(const Words& words);

 private:
  DeviceState& device_;
  std::atomic<bool> expected_{false};
  std::once_flag made_;
  BlockPtr owner_;
  std::atomic<const Block*> block_{nullptr};
  std::mutex abandoned_mutex_;
  std::vector<std::unique_ptr<Words>> abandoned_;  ///< A lost device may write to them at any later time.
};

FaultFlag& fault_flag_of(DeviceState& device) noexcept;

}  // namespace crisol::runtime
