// The stored choices of variants, as a file and as the table that dispatch reads.
#pragma once

#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "crisol/tuning.h"

namespace crisol::dispatch {

/// The text of a file with these entries: a line with format and checksum, and a line for each entry.
std::string write_tuning(const std::vector<TuningEntry>& entries);

/// The entries of a file, or the reason why it cannot be used: it is damaged or has another format. An empty text has
/// no entries.
struct TuningFile {
  std::vector<TuningEntry> entries;
  const char* fault = nullptr;
};
TuningFile read_tuning(std::string_view text);

/// Entries by device and problem. Several threads may use it.
class TuningTable {
 public:
  TuningTable() = default;
  explicit TuningTable(const std::vector<TuningEntry>& entries);

  bool empty() const;  ///< Whether the usual variant is the choice of every entry.
  /// The stored variant. nullptr if there is no entry, or if the entry says that the usual variant stays.
  const std::string* find(const DeviceInfo& info, std::uint64_t problem) const;
  /// Whether there is an entry.
  bool knows(const DeviceInfo& info, std::uint64_t problem) const;
  void add(const TuningEntry& entry);

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::uint64_t, const std::string> variants_;  ///< A text never changes, so callers may keep it.
  std::unordered_set<std::uint64_t> as_usual_;
};

/// The table of this process. It is read when it is first needed. So a program makes the same choices from its start to
/// its end, except that tuning at first use adds winners.
TuningTable& tuning_table();

/// Stores the entry, unless the file already has an entry for the device and the problem that was measured, or that is
/// as unmeasured as this one. Returns the entry that is then in the file. Throws the errors of store_tuning().
TuningEntry store_first(const TuningEntry& entry);

}  // namespace crisol::dispatch
