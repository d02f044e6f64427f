// The file of a timeline: a JSON array with one event in each line. Readers accept an array without its end.
#include "runtime/timeline/timeline.h"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "base/system.h"
#include "base/text.h"
#include "base/thread_context.h"
#include "crisol/device.h"

namespace crisol::runtime {

namespace {

enum class Phase : char { slice = 'X', flow_start = 's', flow_end = 'f', counter = 'C', metadata = 'M' };

struct Event {
  Phase phase;
  const char* category;
  std::string name;
  TimelineRow row;
  std::int64_t start, duration;  ///< Nanoseconds.
  std::uint64_t flow;
  std::string notes;
};

void append_number(std::string& out, std::uint64_t number) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

void append_quoted(std::string& out, std::string_view text) {
  for (const unsigned char c : text)
    if (c < ' ' || c > '~' || c == '"' || c == '\\') {
      using Json = nlohmann::json;
      out += Json(std::string(text)).dump(-1, ' ', true, Json::error_handler_t::replace);
      return;
    }
  out.append(1, '"').append(text).append(1, '"');
}

/// The format counts microseconds.
void append_time(std::string& out, std::int64_t nanoseconds) {
  const std::uint64_t ns = nanoseconds < 0 ? 0 : static_cast<std::uint64_t>(nanoseconds);
  append_number(out, ns / 1000);
  const auto digit = [&](std::uint64_t unit) { return static_cast<char>('0' + ns / unit % 10); };
  const char fraction[] = {'.', digit(100), digit(10), digit(1)};
  out.append(fraction, sizeof fraction);
}

constexpr std::size_t events_in_memory = std::size_t{1} << 15;
constexpr std::int64_t longest_unwritten = 1'000'000'000;

class Timeline {
 public:
  std::mutex mutex;

  void open(const std::string& path) {
    require(!has_timeline(), "trace", "a timeline is being written to ", path_, " already; stop it first");
    file_.close();  // In a child of fork() this may be the parent's file.
    file_.clear();
    events_.clear();
    const std::string own = with_process_number(path);
    errno = 0;
    file_.open(system::path_of(own), std::ios::binary | std::ios::trunc);
    if (!file_)
      fail(ErrorCode::io, "trace", "cannot write ", own, ": ",
           errno == 0 ? "the file cannot be opened" : std::strerror(errno));
    path_ = own;
    first_ = true;
    origin_ = last_write_ = timeline_clock();
    names_.clear();
    named_.clear();
    text_.assign(1, '[');
    write();
  }

  bool is_open() const { return file_.is_open(); }

  void add(Event event) {
    if (!file_.is_open()) return;
    events_.push_back(std::move(event));
    if (events_.size() < events_in_memory && timeline_clock() - last_write_ < longest_unwritten) return;
    write();
  }

  void name_process(std::uint32_t process, const std::string& name) { names_[process] = name; }

  void close() noexcept {
    try {
      write();
      text_ = "\n]\n";
      write();
    } catch (const std::exception&) {
      // The host has no memory left. The file lacks its last events. Readers accept a file without an end.
    }
    if (!file_) std::fprintf(stderr, "crisol: trace: %s is not complete: the disk is full\n", path_.c_str());
    file_.close();
    file_.clear();
    events_.clear();
  }

 private:
  static std::string with_process_number(std::string path) {
    const std::string number = std::to_string(system::process_number());
    for (std::size_t at = 0; (at = path.find("%p", at)) != std::string::npos; at += number.size())
      path.replace(at, 2, number);
    return path;
  }

  void write() {
    for (const Event& event : events_) {
      name_row(event.row);
      append(event);
    }
    events_.clear();
    file_.write(text_.data(), static_cast<std::streamsize>(text_.size()));
    file_.flush();  // Flushes, because a child of fork() must not inherit unwritten text in the stream.
    text_.clear();
    last_write_ = timeline_clock();
  }

  /// Names the event's process and row, if this is their first event.
  void name_row(TimelineRow row) {
    const auto name = [&](const char* what, std::uint32_t in_row, const std::string& text) {
      Event event{Phase::metadata, "", what, {row.process, in_row}, 0, 0, 0, "\"name\":"};
      append_quoted(event.notes, text);
      append(event);
    };
    if (!named_.insert({row.process, row.row}).second) return;
    if (named_.insert({row.process, no_row}).second) {
      const auto known = names_.find(row.process);
      name("process_name", 0, known == names_.end() ? "host" : known->second);
    }
    if (row.process != 0)
      name("thread_name", row.row, row.row == work_queue_row ? "queue" : "transfer queue");
    else
      name("thread_name", row.row, concat("thread ", (row.row + 1) / 2, row.row % 2 == 0 ? ", backward" : ""));
  }

  void append(const Event& e) {
    text_ += first_ ? "\n{\"ph\":\"" : ",\n{\"ph\":\"";
    first_ = false;
    text_.append(1, static_cast<char>(e.phase)).append("\",\"name\":");
    append_quoted(text_, e.name);
    text_ += ",\"pid\":";
    append_number(text_, e.row.process);
    text_ += ",\"tid\":";
    append_number(text_, e.row.row);
    if (e.phase != Phase::metadata) {
      text_.append(",\"cat\":\"").append(e.category).append("\",\"ts\":");
      append_time(text_, e.start - origin_);
    }
    if (e.phase == Phase::slice) {
      text_ += ",\"dur\":";
      append_time(text_, e.duration);
    }
    if (e.phase == Phase::flow_start || e.phase == Phase::flow_end) {
      text_ += ",\"id\":";
      append_number(text_, e.flow);
      if (e.phase == Phase::flow_end) text_ += ",\"bp\":\"e\"";
    }
    if (!e.notes.empty()) text_.append(",\"args\":{").append(e.notes).append(1, '}');
    text_ += '}';
  }

  static constexpr std::uint32_t no_row = UINT32_MAX;

  std::ofstream file_;
  std::string path_, text_;
  bool first_ = true;
  std::int64_t origin_ = 0, last_write_ = 0;
  std::vector<Event> events_;
  std::map<std::uint32_t, std::string> names_;               ///< Names of devices.
  std::set<std::pair<std::uint32_t, std::uint32_t>> named_;  ///< Rows that have a name. A process has the row no_row.
};

Timeline& timeline() {
  static Timeline& the_one = *new Timeline;  // Never destroyed, because threads may outlive static objects.
  return the_one;
}

void add(Event event) {
  const std::lock_guard lock(timeline().mutex);
  timeline().add(std::move(event));
}

}  // namespace

std::int64_t timeline_clock() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

TimelineRow device_row(int device_index, std::uint32_t row) noexcept {
  return {1 + static_cast<std::uint32_t>(device_index), row};
}

TimelineRow host_row() noexcept {
  static std::atomic<std::uint32_t> threads{0};
  thread_local const std::uint32_t number = ++threads;  // From 1 on.
  return {0, 2 * number - (thread_context().backward.in_timeline ? 0 : 1)};
}

BackwardRow::BackwardRow() noexcept : outer_(thread_context().backward.in_timeline) {
  thread_context().backward.in_timeline = true;
}
BackwardRow::~BackwardRow() { thread_context().backward.in_timeline = outer_; }

void TimelineNotes::add_key(std::string_view key) {
  if (!text_.empty()) text_ += ',';
  append_quoted(text_, key);
  text_ += ':';
}

void TimelineNotes::add(std::string_view key, std::string_view text) {
  add_key(key);
  append_quoted(text_, text);
}

void TimelineNotes::add(std::string_view key, std::uint64_t number) {
  add_key(key);
  append_number(text_, number);
}

void timeline_slice(TimelineRow row, const char* category, std::string_view name, std::int64_t start, std::int64_t end,
                    const TimelineNotes& notes) {
  if (has_timeline()) add({Phase::slice, category, std::string(name), row, start, end - start, 0, notes.text()});
}

void timeline_flow_start(const char* name, std::uint64_t id, std::int64_t at) {
  if (has_timeline()) add({Phase::flow_start, "flow", name, host_row(), at, 0, id, {}});
}

void timeline_flow_end(const char* name, std::uint64_t id, TimelineRow row, std::int64_t at) {
  if (has_timeline()) add({Phase::flow_end, "flow", name, row, at, 0, id, {}});
}

std::uint64_t new_flow() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

void timeline_memory(int device_index, const MemoryStats& stats) noexcept {
  if (!has_timeline()) return;
  try {
    TimelineNotes notes;
    notes.add("bytes", stats.in_use);
    add({Phase::counter, "memory", "memory in use", device_row(device_index, work_queue_row), timeline_clock(), 0, 0,
         notes.text()});
  } catch (const std::exception&) {
    // The host has no memory left. The timeline lacks a value.
  }
}

void timeline_device(int device_index, const std::string& name) {
  const std::lock_guard lock(timeline().mutex);
  timeline().name_process(device_row(device_index, 0).process, name);
}

void TimelineSlice::end() noexcept {
  try {
    timeline_slice(host_row(), category_, name_, start_, timeline_clock(), notes_);
  } catch (const std::exception&) {
    // The host has no memory left. The timeline lacks a slice.
  }
}

void open_timeline(const std::string& path) {
  const std::lock_guard lock(timeline().mutex);
  timeline().open(path);
  timeline_is_on = true;
}

void close_timeline() noexcept {
  if (!has_timeline()) return;
  const std::lock_guard lock(timeline().mutex);
  timeline_is_on = false;
  if (timeline().is_open()) timeline().close();
}

}  // namespace crisol::runtime
