#include "runtime/program/progress.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>

#include "base/system.h"
#include "base/text.h"
#include "runtime/program/disk_cache.h"
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

std::int64_t milliseconds_of(CompileProgress::Clock::duration time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

std::string seconds_of(std::int64_t milliseconds) {
  return concat(std::max<std::int64_t>(1, (milliseconds + 500) / 1000), " s");
}

// The program's name and its arguments, each followed by a zero byte. Only Linux gives them. On other systems it is
// empty.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The key contains neither the driver nor the library's version. After an update all programs are compiled again, and
// this takes about as long as the last time.
std::string key_of_note() { return concat("time to compile\n", command_line()); }

std::optional<std::int64_t> noted_milliseconds(const std::string& folder) {
  const std::optional<CachedProgram> note = DiskCache(folder).load(key_of_note());
  std::int64_t value = 0;
  if (!note || note->warmed.size() != 1) return std::nullopt;
  const std::string& text = note->warmed[0];
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc() || value <= 0)
    return std::nullopt;
  return value;
}

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
  ++first_runs_;
}

void CompileProgress::wait_for_first_runs(cl_command_queue queue) {
  const std::lock_guard lock(mutex_);
  if (first_runs_ == 0 || programs_ == 0) return;
  const Clock::time_point start = Clock::now();
  cl_event handle = nullptr;
  if (clEnqueueMarkerWithWaitList(queue, 0, nullptr, &handle) != CL_SUCCESS || clFlush(queue) != CL_SUCCESS) return;
  const cl::Event done(handle);
  while (wanted() && !said && done.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>() > CL_COMPLETE) {
    std::this_thread::sleep_for(2ms);
    say_if_due(Clock::now() - start);
  }
  if (clWaitForEvents(1, &handle) != CL_SUCCESS) return;  // The next call reports the error.
  first_runs_ = 0;
  spent_ += Clock::now() - start;
}

void CompileProgress::keep() {
  const std::lock_guard lock(mutex_);
  const std::string command = command_line();
  if (spent_ < patience || spent_ == kept_ || folder_.empty() || command.empty()) return;
  kept_ = spent_;
  DiskCache(folder_).store(
      key_of_note(),
      {concat("time to compile the kernels of ", command.c_str()), {}, {std::to_string(milliseconds_of(spent_))}});
}

std::string CompileProgress::what_is_left(Clock::duration spent) const {
  const std::string queued =
      first_runs_ == 0 ? ""
                       : concat(" Up to ", first_runs_, first_runs_ == 1 ? " queued kernel is" : " queued kernels are",
                                " not compiled yet.");
  const std::optional<std::int64_t> noted = folder_.empty() ? std::nullopt : noted_milliseconds(folder_);
  if (!noted) return concat("No earlier run of this command is noted, so the time left is not known.", queued);
  const std::int64_t left = *noted - milliseconds_of(spent);
  const std::string earlier = concat("An earlier run took ", seconds_of(*noted), ", so ");
  return concat(earlier, left > 0 ? concat("about ", seconds_of(left), " are left.") : "it should end soon.", queued);
}

void CompileProgress::say_if_due(Clock::duration more) {
  const Clock::duration spent = spent_ + more;
  if (!wanted() || spent < patience || said.exchange(true)) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(spent).count();
  log_line(concat("compiling kernels for this device, for ", seconds, " s so far (", programs_,
                  programs_ == 1 ? " program). " : " programs). ", what_is_left(spent), ' ',
                  folder_.empty() ? "There is no folder to keep them (CRISOL_CACHE_DIR)."
                                  : "They are kept, so the next run starts at once.",
                  " CRISOL_PROGRESS=0 hides this line."));
}

}  // namespace crisol::runtime
