#include "runtime/tuning.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <filesystem>

#include "base/system.h"
#include "base/text.h"
#include "crisol/kernel_cache.h"
#include "crisol/version.h"
#include "runtime/hash.h"
#include "runtime/locked_file.h"
#include "runtime/verbose.h"

namespace crisol {

namespace {

constexpr std::string_view format_name = "crisol tuning 1 ";
constexpr std::size_t field_count = 7;

std::string hex_of(std::uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

template <class Number>
bool parse_number(std::string_view text, int base, Number& value) {
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value, base);
  return error == std::errc() && at == end && !text.empty();
}

std::string_view cut_until(std::string_view& text, char separator) {
  const std::size_t length = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return part;
}

// A line of the file has these fields between tabs.
std::string line_of(const TuningEntry& e) {
  return concat(hex_of(e.key), '\t', e.device, '\t', e.problem, '\t', e.variant, '\t', e.nanoseconds, '\t', e.usual,
                '\t', e.usual_nanoseconds, '\n');
}

bool parse_line(std::string_view line, TuningEntry& e) {
  if (std::count(line.begin(), line.end(), '\t') != field_count - 1) return false;
  std::array<std::string_view, field_count> fields;
  for (std::string_view& field : fields) field = cut_until(line, '\t');
  e.device = fields[1];
  e.problem = fields[2];
  e.variant = fields[3];
  e.usual = fields[5];
  return fields[0].size() == 16 && parse_number(fields[0], 16, e.key) && parse_number(fields[4], 10, e.nanoseconds) &&
         parse_number(fields[6], 10, e.usual_nanoseconds);
}

// An editor on Windows may have ended the lines with "\r\n".
std::string with_plain_line_ends(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] != '\r' || text.substr(i, 2) != "\r\n") plain += text[i];
  return plain;
}

runtime::TuningFile faulty(const char* fault) { return {{}, fault}; }

// Of another format or damaged: said once for each reading.
std::vector<TuningEntry> usable_entries(const std::string& path, std::string_view text) {
  runtime::TuningFile file = runtime::read_tuning(text);
  if (file.fault != nullptr)
    runtime::say_line(concat("tuning: ", path, ' ', file.fault, "; nothing of it is used: run crisol tune again"));
  return std::move(file.entries);
}

// Change(entries) returns whether there is something to write.
template <class Change>
void change_file(Change change) {
  const std::string path = tuning_file();
  require(
      !path.empty(), "tuning",
      "there is no file to store in: CRISOL_TUNING is 0, or neither CRISOL_CACHE_DIR nor the system names a folder");
  runtime::LockedFile file("tuning", path);
  std::vector<TuningEntry> entries = usable_entries(path, file.read());
  if (change(entries)) file.replace(runtime::write_tuning(entries));
}

auto find_entry(std::vector<TuningEntry>& entries, const std::string& device, std::uint64_t key) {
  return std::find_if(entries.begin(), entries.end(),
                      [&](const TuningEntry& e) { return e.key == key && e.device == device; });
}

}  // namespace

namespace runtime {

std::string write_tuning(const std::vector<TuningEntry>& entries) {
  std::string lines;
  for (const TuningEntry& entry : entries) lines += line_of(entry);
  return concat(format_name, hex_of(hash_of(lines)), '\n', lines);
}

TuningFile read_tuning(std::string_view file_text) {
  if (file_text.empty()) return {};
  const std::string lines = with_plain_line_ends(file_text);
  std::string_view text = lines;
  if (text.substr(0, format_name.size()) != format_name) return faulty("is not a tuning file of this format");
  text.remove_prefix(format_name.size());
  std::uint64_t checksum = 0;
  if (const std::string_view digits = cut_until(text, '\n'); digits.size() != 16 || !parse_number(digits, 16, checksum))
    return faulty("is damaged");
  if (hash_of(text) != checksum) return faulty("has a wrong checksum");
  TuningFile file;
  while (!text.empty()) {
    if (!parse_line(cut_until(text, '\n'), file.entries.emplace_back())) return faulty("has a line that is no entry");
  }
  return file;
}

namespace {

std::uint64_t table_key(std::uint64_t device, std::uint64_t problem) {
  Hash hash(device);
  hash.add(problem);
  return hash.value();
}

}  // namespace

TuningTable::TuningTable(const std::vector<TuningEntry>& entries) {
  for (const TuningEntry& entry : entries)
    variants_.insert_or_assign(table_key(hash_of(entry.device), entry.key), entry.variant);
}

const std::string* TuningTable::find(const DeviceInfo& info, std::uint64_t problem) const {
  // The same device is asked for again and again: its text is made once.
  struct Last {
    const DeviceInfo* info = nullptr;
    std::string name, driver;
    std::uint64_t hash = 0;
  };
  thread_local Last last;
  if (last.info != &info || last.name != info.name || last.driver != info.driver_version)
    last = {&info, info.name, info.driver_version, hash_of(tuning_device(info))};
  const auto found = variants_.find(table_key(last.hash, problem));
  return found == variants_.end() ? nullptr : &found->second;
}

const TuningTable& tuning_table() {
  static const TuningTable table(tuning_entries());
  return table;
}

}  // namespace runtime

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
  return path.empty() ? std::vector<TuningEntry>() : usable_entries(path, runtime::read_whole(path));
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
  const std::size_t count = runtime::read_tuning(runtime::read_whole(path)).entries.size();
  std::error_code error;
  std::filesystem::remove(system::path_of(path), error);
  if (error) fail(ErrorCode::io, "tuning", "cannot remove ", path, ": ", error.message());
  return static_cast<std::int64_t>(count);
}

}  // namespace crisol
