// Where a sample's `--json` goes.
#pragma once

#include <cstdio>
#include <string>

namespace samples {

/// The help of an option that names the place.
inline constexpr const char* json_help = "Write the results to this file as JSON; -: to standard output, alone";

/// A file that is written anew with each document, or, named "-", standard output, which gets the last document alone:
/// everything else that the program prints goes to standard error then.
class JsonOutput {
 public:
  /// Throws std::runtime_error when the file could not be written. An empty path is no output.
  explicit JsonOutput(std::string path);
  ~JsonOutput();
  JsonOutput(const JsonOutput&) = delete;
  JsonOutput& operator=(const JsonOutput&) = delete;
  explicit operator bool() const { return !path_.empty(); }
  /// One document of several, of which the last one counts.
  void write(const std::string& document);
  /// After the last document.
  void finish();

 private:
  std::string path_, last_;
  std::FILE* standard_output_ = nullptr;  ///< Of the path "-".
};

}  // namespace samples
