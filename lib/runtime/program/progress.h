// Says on standard error that programs are compiled, once this has taken two seconds: see CRISOL_PROGRESS.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

#include "runtime/cl.h"

namespace crisol::runtime {

/// The time that a device's programs take to compile, and the message about it. The message comes once in a process.
class CompileProgress {
 public:
  using Clock = std::chrono::steady_clock;

  /// A program was compiled, which began at `start`.
  void add_program(Clock::time_point start, const std::string& folder);
  /// A kernel was queued that no run had before. Some drivers compile it only now.
  void add_first_run() noexcept;
  /// Waits until the queue is empty or the message is due. Returns at once unless a new kernel is queued.
  void wait_for_first_runs(cl_command_queue queue);

 private:
  void say_if_due(Clock::duration more);

  std::mutex mutex_;
  Clock::duration spent_{};
  int programs_ = 0;
  bool first_runs_ = false;
  std::string folder_;
};

}  // namespace crisol::runtime
