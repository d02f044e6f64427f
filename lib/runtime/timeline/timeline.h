// The timeline that crisol/trace.h describes: its file, and the events that other parts of the library add to it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace crisol {
struct MemoryStats;
}

namespace crisol::runtime {

inline std::atomic<bool> timeline_is_on{false};

/// Whether a timeline is written. It costs one load.
inline bool has_timeline() noexcept { return timeline_is_on.load(std::memory_order_relaxed); }

/// The time in nanoseconds, by the clock of all events.
std::int64_t timeline_clock() noexcept;

/// The row of an event. The timeline has a process for the host (0) and for each device (1 + its index). The host's
/// rows are its threads, counted from 1. A device's rows are its queues.
struct TimelineRow {
  std::uint32_t process = 0, row = 0;
};
constexpr std::uint32_t work_queue_row = 1, transfer_queue_row = 2;
TimelineRow device_row(int device_index, std::uint32_t row) noexcept;
/// The row of the calling thread. While backward runs, it is the thread's second row.
TimelineRow host_row() noexcept;

/// Lets the events of this thread go to its second row, "backward", while it lives.
class BackwardRow {
 public:
  BackwardRow() noexcept;
  ~BackwardRow();
  BackwardRow(const BackwardRow&) = delete;
  BackwardRow& operator=(const BackwardRow&) = delete;

 private:
  bool outer_;
};

/// The members of a JSON object, for example `"key":"text","other":3`.
class TimelineNotes {
 public:
  void add(std::string_view key, std::string_view text);
  void add(std::string_view key, std::uint64_t number);
  const std::string& text() const noexcept { return text_; }

 private:
  void add_key(std::string_view key);
  std::string text_;
};

/// A part of a row, from start to end. The functions below do nothing without a timeline.
void timeline_slice(TimelineRow row, const char* category, std::string_view name, std::int64_t start, std::int64_t end,
                    const TimelineNotes& notes = {});

/// The start of an arrow, at time `at`, in a slice of this thread. `id` comes from new_flow(), or is another number
/// that no other arrow of this name has.
void timeline_flow_start(const char* name, std::uint64_t id, std::int64_t at);
/// The end of an arrow, at time `at`, in a slice of this row.
void timeline_flow_end(const char* name, std::uint64_t id, TimelineRow row, std::int64_t at);
std::uint64_t new_flow() noexcept;

/// The bytes of a device's pool that are in use now.
void timeline_memory(int device_index, const MemoryStats& stats) noexcept;

/// Names a device's rows.
void timeline_device(int device_index, const std::string& name);

/// A slice of this thread from construction to destruction.
class TimelineSlice {
 public:
  /// The texts must live as long as the slice.
  TimelineSlice(const char* category, std::string_view name) noexcept
      : category_(category), name_(name), start_(has_timeline() ? timeline_clock() : 0) {}
  ~TimelineSlice() {
    if (start_ != 0) end();
  }
  TimelineSlice(const TimelineSlice&) = delete;
  TimelineSlice& operator=(const TimelineSlice&) = delete;

  /// Whether there is a timeline: notes are made only then.
  explicit operator bool() const noexcept { return start_ != 0; }
  template <class Value>
  void note(std::string_view key, const Value& value) {
    if (start_ != 0) notes_.add(key, value);
  }

 private:
  void end() noexcept;

  const char* category_;
  std::string_view name_;
  std::int64_t start_;
  TimelineNotes notes_;
};

/// Opens and closes the file. trace::start and trace::stop also tell the devices.
void open_timeline(const std::string& path);
void close_timeline() noexcept;

}  // namespace crisol::runtime
