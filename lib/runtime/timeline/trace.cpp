// trace::start and trace::stop: the timeline's file, and the devices whose commands are timed for it.
#include "crisol/trace.h"

#include <exception>

#include "base/forked.h"
#include "base/system.h"
#include "runtime/device/device_state.h"
#include "runtime/timeline/timeline.h"

namespace crisol::trace {

namespace {

std::terminate_handler terminate_before = nullptr;

void stop_quietly(bool ending) noexcept {
  if (!runtime::has_timeline()) return;
  try {
    runtime::stop_timeline_of_devices(ending);
  } catch (const std::exception&) {
    // A device failed. The timeline ends with the commands that were timed before. The next use of the device reports
    // the error.
  }
  runtime::close_timeline();
}

void stop_at_exit() { stop_quietly(true); }

[[noreturn]] void stop_and_terminate() {
  stop_quietly(true);
  if (terminate_before != nullptr) terminate_before();
  std::abort();
}

/// Completes the file, however the process ends. A child of fork() leaves the file to its parent.
void prepare_for_the_end() {
  static const bool once = [] {
    system::at_exit(stop_at_exit);
    terminate_before = std::set_terminate(stop_and_terminate);
    system::call_in_forked_child([] { runtime::timeline_is_on = false; });
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace

void start(const std::string& path) {
  system::check_not_forked();
  runtime::open_timeline(path);
  try {
    prepare_for_the_end();
    runtime::start_timeline_of_devices();
  } catch (...) {
    stop_quietly(false);
    throw;
  }
}

void stop() {
  if (!active()) return;
  system::check_not_forked();
  try {
    runtime::stop_timeline_of_devices(false);
  } catch (...) {
    runtime::close_timeline();
    throw;
  }
  runtime::close_timeline();
}

bool active() noexcept { return runtime::has_timeline(); }

File::~File() { stop_quietly(false); }

Scope::Scope(std::string_view name) {
  if (!runtime::has_timeline()) return;
  name_ = name;
  start_ = runtime::timeline_clock();
}

Scope::~Scope() {
  if (start_ == 0) return;
  try {
    runtime::timeline_slice(runtime::host_row(), "scope", name_, start_, runtime::timeline_clock());
  } catch (const std::exception&) {
    // The host has no memory left. The timeline lacks this scope.
  }
}

}  // namespace crisol::trace
