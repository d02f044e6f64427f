#include "dispatch/stored/tuning.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/checked_lines.h"
#include "base/hash.h"
#include "base/locked_file.h"
#include "base/per_thread.h"
#include "base/system.h"
#include "base/text.h"
#include "crisol/kernel_cache.h"
#include "crisol/version.h"
#include "runtime/program/trusted_files.h"
#include "runtime/verbose.h"

namespace crisol {

namespace {

constexpr std::string_view tuning_format = "crisol tuning 1";

// A line of the file has these fields, separated by tabs.
std::string line_of(const TuningEntry& e) {
  return concat(hex_of(e.key), '\t', e.device, '\t', e.problem, '\t', e.variant, '\t', e.nanoseconds, '\t', e.usual,
                '\t', e.usual_nanoseconds, '\n');
}

bool parse_line(std::string_view line, TuningEntry& e) {
  std::array<std::string_view, 7> fields;
  if (!split_fields(line, fields)) return false;
  e.device = fields[1];
  e.problem = fields[2];
  e.variant = fields[3];
  e.usual = fields[5];
  return fields[0].size() == 16 && parse_number(fields[0], 16, e.key) && parse_number(fields[4], 10, e.nanoseconds) &&
         parse_number(fields[6], 10, e.usual_nanoseconds);
}

// Returns no entries if the file is damaged or has another format, and logs this once for each reading.
std::vector<TuningEntry> usable_entries(const std::string& path, std::string_view text) {
  dispatch::TuningFile file = dispatch::read_tuning(text);
  if (file.fault != nullptr)
    runtime::log_line(concat("tuning: ", path, ' ', file.fault, "; nothing of it is used: run crisol tune again"));
  return std::move(file.entries);
}

// change(entries) returns true if the file must be written.
template <class Change>
void change_file(Change change) {
  const std::string path = tuning_file();
  require(
      !path.empty(), "tuning",
      "there is no file to store in: CRISOL_TUNING is 0, or neither CRISOL_CACHE_DIR nor the system names a folder");
  runtime::require_trusted("tuning", path);
  LockedFile file("tuning", path);
  std::vector<TuningEntry> entries = usable_entries(path, file.read());
  if (change(entries)) file.replace(dispatch::write_tuning(entries));
}

auto find_entry(std::vector<TuningEntry>& entries, const std::string& device, std::uint64_t key) {
  return std::find_if(entries.begin(), entries.end(),
                      [&](const TuningEntry& e) { return e.key == key && e.device == device; });
}

}  // namespace

namespace dispatch {

std::string write_tuning(const std::vector<TuningEntry>& entries) {
  std::string lines;
  for (const TuningEntry& entry : entries) lines += line_of(entry);
  return with_checksum(tuning_format, lines);
}

TuningFile read_tuning(std::string_view text) {
  const CheckedLines checked = without_checksum(tuning_format, text);
  TuningFile file{{}, checked.fault};
  for (std::string_view rest = checked.lines; !rest.empty();) {
    if (!parse_line(cut_until(rest, '\n'), file.entries.emplace_back())) return {{}, "has a line that is no entry"};
  }
  return file;
}

namespace {

std::uint64_t table_key(std::uint64_t device, std::uint64_t problem) {
  Hash hash(device);
  hash.add(problem);
  return hash.value();
}

// The hash of a device's text. A thread computes it once, because it asks for the same device again and again.
struct LastHash {
  const DeviceInfo* info = nullptr;
  std::string name, driver;
  std::uint64_t hash = 0;
};

std::uint64_t key_on(const DeviceInfo& info, std::uint64_t problem) {
  auto& last = per_thread<LastHash>();
  if (last.info != &info || last.name != info.name || last.driver != info.driver_version)
    last = {&info, info.name, info.driver_version, hash_of(tuning_device(info))};
  return table_key(last.hash, problem);
}

}  // namespace

TuningTable::TuningTable(const std::vector<TuningEntry>& entries) {
  for (const TuningEntry& entry : entries) add(entry);
}

void TuningTable::add(const TuningEntry& entry) {
  const std::uint64_t key = table_key(hash_of(entry.device), entry.key);
  const std::lock_guard lock(mutex_);
  if (entry.variant == entry.usual)
    as_usual_.insert(key);
  else
    variants_.emplace(key, entry.variant);
}

bool TuningTable::empty() const {
  const std::shared_lock lock(mutex_);
  return variants_.empty();
}

const std::string* TuningTable::find(const DeviceInfo& info, std::uint64_t problem) const {
  const std::shared_lock lock(mutex_);
  const auto found = variants_.find(key_on(info, problem));
  return found == variants_.end() ? nullptr : &found->second;
}

bool TuningTable::knows(const DeviceInfo& info, std::uint64_t problem) const {
  const std::uint64_t key = key_on(info, problem);
  const std::shared_lock lock(mutex_);
  return variants_.count(key) > 0 || as_usual_.count(key) > 0;
}

TuningTable& tuning_table() {
  // Never destroyed, because callers may outlive static objects.
  static TuningTable& table = *new TuningTable(tuning_entries());
  return table;
}

TuningEntry store_first(const TuningEntry& entry) {
  TuningEntry stored = entry;
  change_file([&](std::vector<TuningEntry>& entries) {
    const auto known = find_entry(entries, entry.device, entry.key);
    if (known == entries.end()) {
      entries.push_back(entry);
      return true;
    }
    const bool replaces = known->nanoseconds == 0 && entry.nanoseconds > 0;
    if (replaces) *known = entry;
    stored = *known;
    return replaces;
  });
  return stored;
}

}  // namespace dispatch

std::string tuning_device(const DeviceInfo& info) {
  std::string text = concat("crisol ", version(), " | ", info.platform, " | ", info.name, " | ", info.driver_version,
                            " | ", info.compute_units, " units");
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, ' ');
  return text;
}

std::string tuning_file() {
  const std::string chosen = runtime::environment("CRISOL_TUNING");
  if (chosen == "0") return {};
  if (!chosen.empty()) return chosen;
  const std::string folder = kernel_cache_folder();
  return folder.empty() ? folder : folder + "/tuning.txt";
}

std::vector<TuningEntry> tuning_entries() {
  const std::string path = tuning_file();
  return path.empty() ? std::vector<TuningEntry>() : usable_entries(path, runtime::read_trusted(path));
}

void store_tuning(const TuningEntry& entry) {
  change_file([&](std::vector<TuningEntry>& entries) {
    const auto known = find_entry(entries, entry.device, entry.key);
    if (known == entries.end())
      entries.push_back(entry);
    else
      *known = entry;
    return true;
  });
}

bool remove_tuning(const std::string& device, std::uint64_t key) {
  bool removed = false;
  if (!std::filesystem::exists(system::path_of(tuning_file()))) return removed;
  change_file([&](std::vector<TuningEntry>& entries) {
    const auto known = find_entry(entries, device, key);
    removed = known != entries.end();
    if (removed) entries.erase(known);
    return removed;
  });
  return removed;
}

std::int64_t clear_tuning() {
  const std::string path = tuning_file();
  if (path.empty()) return 0;
  const std::size_t count = dispatch::read_tuning(read_whole(path)).entries.size();
  std::error_code error;
  std::filesystem::remove(system::path_of(path), error);
  if (error) fail(ErrorCode::io, "tuning", "cannot remove ", path, ": ", error.message());
  return static_cast<std::int64_t>(count);
}

}  // namespace crisol
