// What a program asked of the device that is not there: the programs that it built and the kernels that it queued.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace crisol::null_driver {

/// One way in which a kernel was queued.
struct Launch {
  std::vector<std::size_t> global, local;  ///< `local` is empty where the driver may choose it.
  std::size_t local_argument_bytes = 0;    ///< Local memory that came as arguments.
  std::size_t part = 0;                    ///< Of the run (see Record::begin_part).

  auto operator<=>(const Launch&) const = default;
};

/// A program, by its text and options: built twice, it counts once.
struct BuiltProgram {
  std::string source, options;
  std::map<std::string, std::map<Launch, std::int64_t>> kernels;  ///< How often each was queued.
};

/// Safe to use from several threads.
class Record {
 public:
  /// What comes from now on belongs to another part of the run, the `part`-th.
  void begin_part(std::size_t part);
  /// The number of a built program.
  std::size_t add_program(const std::string& source, const std::string& options);
  void add_launch(std::size_t program, const std::string& kernel, Launch launch);

  /// {"programs": [{"source", "options", "kernels": [{"name", "launches": [{"global", "local", "local_argument_bytes",
  /// "part", "times"}]}]}]}, programs in the order in which they were first built.
  std::string to_json() const;

 private:
  mutable std::mutex mutex_;
  std::size_t part_ = 0;
  std::vector<BuiltProgram> programs_;
  std::map<std::pair<std::string, std::string>, std::size_t> numbers_;
};

}  // namespace crisol::null_driver
