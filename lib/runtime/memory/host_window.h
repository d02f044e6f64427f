// Host access to a part of a block while the device works. crisol/host_access.h offers it for tensors.
#pragma once

#include <cstdint>

#include "runtime/cl.h"
#include "runtime/memory/block.h"

namespace crisol::runtime {

/// A part of a block in host memory. On a CPU device this is the mapped memory of the block. On other devices it is a
/// copy in pinned memory. All commands go to the second queue, so that the device's work goes on.
class HostWindow {
 public:
  HostWindow(BlockPtr block, std::uint64_t offset, std::uint64_t bytes);
  ~HostWindow();
  HostWindow(const HostWindow&) = delete;
  HostWindow& operator=(const HostWindow&) = delete;

  /// Queues the access after the work that is already queued. Without `read`, the host gets undefined bytes.
  void begin(bool read);
  /// Whether the bytes are there.
  bool ready();
  /// Waits for the bytes and returns them. Null if the part is empty.
  void* wait();
  /// Ends the access. With `write`, the bytes go to the block.
  void end(bool write);
  /// Makes all work that is queued later wait until the bytes are in the block.
  void join();

 private:
  void pin();
  void release() noexcept;

  const BlockPtr block_;
  const std::uint64_t offset_, bytes_;
  const bool mapped_;        ///< Whether the host uses the memory of the block itself.
  cl::Buffer pinned_;        ///< If not mapped_: memory that the device reaches without a copy by the driver.
  void* address_ = nullptr;  ///< The address of the bytes.
  cl::Event began_, ended_;
};

}  // namespace crisol::runtime
