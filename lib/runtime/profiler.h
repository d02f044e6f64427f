// Times of a device's commands from OpenCL events: for profiles (crisol/profile.h) and timelines (crisol/trace.h).
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "crisol/profile.h"
#include "runtime/cl.h"
#include "runtime/timeline/timeline.h"

namespace crisol::runtime {

class DeviceState;

/// A command with the event that times it. The members after `in_timeline` are for the timeline.
struct TimedCommand {
  std::string name;
  cl::Event event;
  bool profiled = false, in_timeline = false;
  const char* kind = "";
  const char* op = nullptr;            ///< The op that queued it, or null.
  std::uint32_t row = 0;               ///< The row of the queue.
  std::uint64_t bytes = 0;             ///< The size of a transfer.
  std::uint64_t flow = 0;              ///< The arrow from the call that queued it.
  std::int64_t before = 0, after = 0;  ///< The times before and after this call, by the host's clock.
};

/// The difference between a device's clock and the host's. A command is queued during a call of the host, begins after
/// the call began, and has ended when its event says so. These facts bound the difference. Bounds of later commands
/// replace earlier ones, because clocks drift.
class DeviceClock {
 public:
  struct Command {
    std::int64_t before, after, queued, start, end;  ///< The first two are the host's times, the others the device's.
  };
  /// `now` is a time of the host when all commands had ended.
  void fit(const std::vector<Command>& commands, std::int64_t now) noexcept;
  std::int64_t host_time(std::int64_t of_device) const noexcept { return of_device + offset_; }

 private:
  std::int64_t offset_ = 0;
  bool known_ = false;
};

class Profiler {
 public:
  /// Whether commands get events: for a profile or for the timeline.
  bool active() const noexcept { return profiles() || in_timeline(); }
  bool profiles() const noexcept { return users_.load(std::memory_order_relaxed) > 0; }
  bool in_timeline() const noexcept { return in_timeline_.load(std::memory_order_relaxed); }

  /// Called when a profile or the timeline begins or ends. Returns true if events become necessary or unnecessary.
  bool start() noexcept { return users_.fetch_add(1) == 0 && !in_timeline(); }
  bool stop() noexcept { return users_.fetch_sub(1) == 1 && !in_timeline(); }
  bool start_timeline() noexcept { return !in_timeline_.exchange(true) && !profiles(); }
  bool stop_timeline() noexcept { return in_timeline_.exchange(false) && !profiles(); }

  void add(TimedCommand command);
  /// Converts events to times; call it when the queue is empty. `device_index` is for the timeline.
  void drain(int device_index);

  /// The number of launches timed so far; a position for rows_since.
  std::size_t count() const;
  std::vector<ProfileRow> rows_since(std::size_t first) const;

 private:
  struct Timed {
    std::string kernel;
    double ms;
  };
  /// Adds a command to the timeline. `commands` and DeviceClock's list have the same order.
  void write_timeline(int device_index, const std::vector<const TimedCommand*>& commands,
                      const std::vector<DeviceClock::Command>& times);

  std::atomic<int> users_{0};
  std::atomic<bool> in_timeline_{false};
  mutable std::mutex mutex_;
  std::vector<TimedCommand> pending_;
  std::vector<Timed> timed_;
  DeviceClock clock_;
  std::array<std::int64_t, transfer_queue_row + 1> last_end_{};  ///< The index is the row.
};

/// Gives a command that is about to be queued an event, if someone wants its times.
class CommandTimer {
 public:
  /// Profiles time kernels only, the timeline times every kind: "kernel", "copy", "fill", "upload", "download".
  CommandTimer(DeviceState& device, const char* kind, std::uint32_t row = work_queue_row) noexcept;

  /// The place where clEnqueue… puts the event, or null.
  cl_event* event() noexcept { return profiled_ || in_timeline_ ? &event_ : nullptr; }
  /// Call it when the command was queued. `name` is a kernel or a kind.
  void queued(std::string_view name, std::uint64_t bytes = 0);
  /// The same for a command whose event the caller has.
  void queued(std::string_view name, std::uint64_t bytes, const cl::Event& event);

 private:
  DeviceState& device_;
  const char* kind_;
  std::uint32_t row_;
  bool profiled_ = false, in_timeline_ = false;
  std::int64_t before_ = 0;
  cl_event event_ = nullptr;
};

void print_profile(std::ostream& out, const std::vector<ProfileRow>& rows);

}  // namespace crisol::runtime
