// Host access to the elements of a tensor while the device works on: for exchange with other processes and devices.
#pragma once

#include <cstddef>
#include <memory>

#include "crisol/export.h"
#include "crisol/tensor.h"

namespace crisol {

/// The elements of a contiguous tensor in host memory. On a CPU device this is the memory of the tensor itself. On
/// other devices it is a copy in pinned memory, which the object keeps for the next access. The commands go to a second
/// queue of the device, so that the device's other work goes on.
///
///     HostAccess access(x);
///     access.begin();                                 // Behind the work that is queued by now.
///     auto* values = static_cast<float*>(access.wait());
///     values[0] = 1;
///     access.end(true);
///     access.join();                                  // Work that is queued later sees the new values.
///
/// An access begins and ends before the next one begins. The calls may come from different threads, one after another.
class CRISOL_API HostAccess {
 public:
  /// Keeps the memory of x alive. Refuses a tensor that is not contiguous.
  explicit HostAccess(const Tensor& x);
  ~HostAccess();
  HostAccess(const HostAccess&) = delete;
  HostAccess& operator=(const HostAccess&) = delete;

  /// Queues the access, and does not wait. Without `read`, the host gets undefined values on devices with a memory of
  /// their own. Nothing may write the tensor until end(). Throws invalid_argument during a capture.
  void begin(bool read = true);
  /// Whether wait() would return at once.
  bool ready();
  /// Waits until the work that was queued before begin() has run. Returns the first element, or null if the tensor has
  /// no elements. The pointer is valid until end().
  void* wait();
  /// Ends the access. With `write`, the values go to the tensor, and backward() refuses to use values that it saved
  /// before. Refuses to write a leaf that wants a gradient, except under NoGrad.
  void end(bool write);
  /// All work that is queued for the device after this call waits for the end of the access.
  void join();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace crisol
