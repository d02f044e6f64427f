// The stored choices of variants, as a file and as the table that dispatch reads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
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

/// Entries by device and problem.
class TuningTable {
 public:
  TuningTable() = default;
  explicit TuningTable(const std::vector<TuningEntry>& entries);

  bool empty() const noexcept { return variants_.empty(); }
  /// The stored variant, or nullptr.
  const std::string* find(const DeviceInfo& info, std::uint64_t problem) const;

 private:
  std::unordered_map<std::uint64_t, std::string> variants_;
};

/// The table of this process. It is read when it is first needed and then never changes, so that a program makes the
/// same choices from its start to its end.
const TuningTable& tuning_table();

}  // namespace crisol::dispatch
