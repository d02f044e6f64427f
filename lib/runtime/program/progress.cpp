#include "runtime/program/progress.h"

#include <atomic>
#include <thread>

#include "base/system.h"
#include "base/text.h"
#include "runtime/verbose.h"

namespace crisol::runtime {

namespace {

using namespace std::chrono_literals;

constexpr auto patience = 2s;

bool wanted() {
  static const bool answer = [] {
    const std::string choice = environment("CRISOL_PROGRESS");
    return choice.empty() ? system::errors_go_to_terminal() : choice != "0";
  }();
  return answer;
}

std::atomic<bool> said{false};

}  // namespace

void CompileProgress::add_program(Clock::time_point start, const std::string& folder) {
  const std::lock_guard lock(mutex_);
  ++programs_;
  folder_ = folder;
  spent_ += Clock::now() - start;
  say_if_due({});
}

void CompileProgress::add_first_run() noexcept {
  const std::lock_guard lock(mutex_);
  first_runs_ = true;
}

void CompileProgress::wait_for_first_runs(cl_command_queue queue) {
  if (!wanted() || said) return;
  const std::lock_guard lock(mutex_);
  if (!first_runs_ || programs_ == 0) return;
  first_runs_ = false;
  cl_event handle = nullptr;
  if (clEnqueueMarkerWithWaitList(queue, 0, nullptr, &handle) != CL_SUCCESS || clFlush(queue) != CL_SUCCESS) return;
  const cl::Event done(handle);
  const Clock::time_point start = Clock::now();
  while (!said && done.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>() > CL_COMPLETE) {
    std::this_thread::sleep_for(2ms);
    say_if_due(Clock::now() - start);
  }
  spent_ += Clock::now() - start;
}

void CompileProgress::say_if_due(Clock::duration more) {
  if (!wanted() || spent_ + more < patience || said.exchange(true)) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(spent_ + more).count();
  log_line(concat("compiling kernels for this device, for ", seconds, " s so far (", programs_,
                  programs_ == 1 ? " program). " : " programs). ",
                  folder_.empty() ? "There is no folder to keep them (CRISOL_CACHE_DIR)."
                                  : "They are kept, so the next run starts at once.",
                  " CRISOL_PROGRESS=0 hides this line."));
}

}  // namespace crisol::runtime
