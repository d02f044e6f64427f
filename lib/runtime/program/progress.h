// Reports on standard error that programs are compiled, once compiling has taken two seconds (CRISOL_PROGRESS).
#pragma once

#include <chrono>
#include <mutex>
#include <string>

#include "runtime/cl.h"

namespace crisol::runtime {

/// Measures how long a device's programs take to compile, and prints the message. It is printed once in a process. If
/// an earlier run of the same command line left a note in the cache, the message says how much time is left.
class CompileProgress {
 public:
  using Clock = std::chrono::steady_clock;

  /// Call it when a program was compiled. `start` is when compiling began, and `folder` is the folder of the cache.
  void add_program(Clock::time_point start, const std::string& folder);
  /// Call it when a kernel was queued for the first time. Some drivers compile it only now.
  void add_first_run() noexcept;
  /// Waits until the queue is empty, or until the message is due. Returns at once if no new kernel is queued.
  void wait_for_first_runs(cl_command_queue queue);
  /// Stores how long compiling took in this process, for later runs, if the message was due. Call it when the queue is
  /// empty.
  void keep();

 private:
  void say_if_due(Clock::duration more);
  std::string what_is_left(Clock::duration spent) const;

  std::mutex mutex_;
  Clock::duration spent_{}, kept_{};
  int programs_ = 0;
  int first_runs_ = 0;  ///< Kernels that were queued for the first time since the last wait.
  std::string folder_;
};

}  // namespace crisol::runtime
