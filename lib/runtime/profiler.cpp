#include "runtime/profiler.h"

#include <algorithm>
#include <iomanip>
#include <map>
#include <numeric>
#include <ostream>

#include "runtime/capture/capture.h"
#include "runtime/device/device_state.h"
#include "runtime/op_scope.h"

namespace crisol {

namespace runtime {

void DeviceClock::fit(const std::vector<Command>& commands, std::int64_t now) noexcept {
  if (commands.empty()) return;
  std::int64_t least = INT64_MIN, most = INT64_MAX;
  for (const Command& c : commands) {
    least = std::max(least, c.before - c.start);
    most = std::min(most, now - c.end);
    if (c.queued == 0 || c.queued > c.start) continue;  // The driver does not report when the command was queued.
    least = std::max(least, c.before - c.queued);
    most = std::min(most, c.after - c.queued);
  }
  if (known_ && least <= offset_ && offset_ <= most) return;
  // The bounds may contradict each other a little if clocks have coarse steps.
  offset_ = known_ && least <= most ? std::clamp(offset_, least, most) : least + (most - least) / 2;
  known_ = true;
}

void Profiler::add(TimedCommand command) {
  const std::lock_guard lock(mutex_);
  pending_.push_back(std::move(command));
}

void Profiler::drain(int device_index) {
  const std::lock_guard lock(mutex_);
  std::vector<const TimedCommand*> of_timeline;
  std::vector<DeviceClock::Command> times;
  for (const TimedCommand& p : pending_) {
    // The queue is empty, but rusticl marks events as complete a little later.
    p.event.wait();
    const auto time = [&](cl_profiling_info what) {
      cl_ulong value = 0;
      const cl_int error = clGetEventProfilingInfo(p.event(), what, sizeof value, &value, nullptr);
      return error == CL_SUCCESS ? static_cast<std::int64_t>(value) : std::int64_t{-1};
    };
    const std::int64_t start = time(CL_PROFILING_COMMAND_START), end = time(CL_PROFILING_COMMAND_END);
    if (start < 0 || end < start) continue;
    if (p.profiled) timed_.push_back({p.name, static_cast<double>(end - start) * 1e-6});
    if (!p.in_timeline) continue;
    of_timeline.push_back(&p);
    times.push_back({p.before, p.after, std::max<std::int64_t>(0, time(CL_PROFILING_COMMAND_QUEUED)), start, end});
  }
  write_timeline(device_index, of_timeline, times);
  pending_.clear();
}

void Profiler::write_timeline(int device_index, const std::vector<const TimedCommand*>& commands,
                              const std::vector<DeviceClock::Command>& times) {
  clock_.fit(times, timeline_clock());
  std::vector<std::size_t> order(commands.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Threads may note their commands in another order than they have in the queue.
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return times[a].start < times[b].start; });
  for (const std::size_t i : order) {
    const TimedCommand& command = *commands[i];
    std::int64_t& last = last_end_[command.row];
    // The clocks' difference may have changed a little since the last command.
    const std::int64_t start = std::max(last, clock_.host_time(times[i].start));
    last = std::max(start, clock_.host_time(times[i].end));
    TimelineNotes notes;
    if (command.op != nullptr) notes.add("op", command.op);
    if (command.bytes != 0) notes.add("bytes", command.bytes);
    const TimelineRow row = device_row(device_index, command.row);
    timeline_slice(row, command.kind, command.name, start, last, notes);
    timeline_flow_end("launch", command.flow, row, start);
  }
}

CommandTimer::CommandTimer(DeviceState& device, const char* kind, std::uint32_t row) noexcept
    : device_(device), kind_(kind), row_(row) {
  const Profiler& profiler = device.profiler();
  if (!profiler.active() || capture_is_paused()) return;
  profiled_ = profiler.profiles() && kind_ == std::string_view("kernel");
  in_timeline_ = profiler.in_timeline() && has_timeline();
  if (in_timeline_) before_ = timeline_clock();
}

void CommandTimer::queued(std::string_view name, std::uint64_t bytes) {
  if (event_ == nullptr) return;
  const cl::Event own(event_);
  queued(name, bytes, own);
}

void CommandTimer::queued(std::string_view name, std::uint64_t bytes, const cl::Event& event) {
  if (!profiled_ && !in_timeline_) return;
  TimedCommand command{std::string(name), event, profiled_, in_timeline_, kind_, current_op(), row_, bytes, 0,
                       before_,           0};
  if (in_timeline_) {
    command.after = timeline_clock();
    command.flow = new_flow();
    timeline_flow_start("launch", command.flow, before_);
    // Every arrow must start in a slice. Without an op, the call itself becomes a slice.
    if (command.op == nullptr) timeline_slice(host_row(), "launch", name, before_, timeline_clock());
  }
  device_.profiler().add(std::move(command));
}

std::size_t Profiler::count() const {
  const std::lock_guard lock(mutex_);
  return timed_.size();
}

std::vector<ProfileRow> Profiler::rows_since(std::size_t first) const {
  std::map<std::string, ProfileRow> by_kernel;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = first; i < timed_.size(); ++i) {
      ProfileRow& row = by_kernel[timed_[i].kernel];
      row.min_ms = row.launches == 0 ? timed_[i].ms : std::min(row.min_ms, timed_[i].ms);
      row.max_ms = std::max(row.max_ms, timed_[i].ms);
      row.total_ms += timed_[i].ms;
      ++row.launches;
    }
  }
  std::vector<ProfileRow> rows;
  for (auto& [kernel, row] : by_kernel) {
    row.kernel = kernel;
    rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.total_ms > b.total_ms; });
  return rows;
}

void print_profile(std::ostream& out, const std::vector<ProfileRow>& rows) {
  double total = 0;
  std::size_t width = 6;
  for (const ProfileRow& row : rows) {
    total += row.total_ms;
    width = std::max(width, row.kernel.size());
  }
  const auto flags = out.flags();
  const auto precision = out.precision();
  out << std::left << std::setw(static_cast<int>(width)) << "kernel" << std::right << std::setw(10) << "launches"
      << std::setw(12) << "total ms" << std::setw(11) << "mean us" << std::setw(9) << "share" << '\n'
      << std::fixed;
  for (const ProfileRow& row : rows)
    out << std::left << std::setw(static_cast<int>(width)) << row.kernel << std::right << std::setw(10) << row.launches
        << std::setw(12) << std::setprecision(3) << row.total_ms << std::setw(11) << std::setprecision(1)
        << row.total_ms * 1e3 / static_cast<double>(row.launches) << std::setw(8) << std::setprecision(1)
        << (total > 0 ? 100 * row.total_ms / total : 0) << "%\n";
  out.flags(flags);
  out.precision(precision);
}

}  // namespace runtime

Profile::Profile(Device device) : device_(device) {
  runtime::DeviceState& state = device_.state();
  try {
    if (state.profiler().start())
      state.set_profiling();
    else
      state.finish();  // Waits for earlier work, which belongs only to the outer profile.
  } catch (...) {
    state.profiler().stop();
    throw;
  }
  first_ = state.profiler().count();
}

Profile::~Profile() {
  runtime::DeviceState& state = device_.state();
  try {
    if (state.profiler().stop()) state.set_profiling();
  } catch (const std::exception&) {
    // The device failed. The next use of the device reports the error.
  }
}

std::vector<ProfileRow> Profile::rows() const {
  device_.state().finish();
  return device_.state().profiler().rows_since(first_);
}

std::ostream& operator<<(std::ostream& out, const Profile& profile) {
  runtime::print_profile(out, profile.rows());
  return out;
}

}  // namespace crisol
