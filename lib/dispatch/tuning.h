// The stored choices of variants, as a file and as the table that dispatch looks into.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "crisol/tuning.h"

namespace crisol::runtime {

/// The text of the file of these entries: a line with format and checksum, and a line for each.
std::string write_tuning(const std::vector<TuningEntry>& entries);

/// The entries of a file, or why it is damaged or of another format. The empty text has none.
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

/// That of this process: read when it is first asked for, so that a program chooses alike from its start to its end.
const TuningTable& tuning_table();

}  // namespace crisol::runtime
