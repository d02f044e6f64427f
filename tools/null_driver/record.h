// The record of a program's requests to the null device: the programs that it built and the kernels that it queued.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace crisol::null_driver {

/// One way in which a kernel was queued: its sizes and the part of the run.
struct Launch {
  std::vector<std::size_t> global, local;  ///< `local` is empty if the driver may choose it.
  std::size_t local_argument_bytes = 0;    ///< Local memory that was passed as arguments.
  std::size_t part = 0;                    ///< The part of the run (see Record::begin_part).

  auto operator<=>(const Launch&) const = default;
};

/// A program, identified by its source and options. Built twice, it counts once.
struct BuiltProgram {
  std::string source, options;
  std::map<std::string, std::map<Launch, std::int64_t>> kernels;  ///< The number of times that each was queued.
};

/// Safe to use from several threads.
class Record {
 public:
  /// Launches from now on belong to part number `part` of the run.
  void begin_part(std::size_t part);
  /// Adds a built program and returns its number.
  std::size_t add_program(const std::string& source, const std::string& options);
  void add_launch(std::size_t program, const std::string& kernel, Launch launch);

  /// {"programs": [{"source", "options", "kernels": [{"name", "launches": [{"global", "local", "local_argument_bytes",
  /// "part", "times"}]}]}]}. The programs are in the order in which they were first built.
  std::string to_json() const;

 private:
  mutable std::mutex mutex_;
  std::size_t part_ = 0;
  std::vector<BuiltProgram> programs_;
  std::map<std::pair<std::string, std::string>, std::size_t> numbers_;
};

}  // namespace crisol::null_driver
