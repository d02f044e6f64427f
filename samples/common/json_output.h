// Writes a sample's `--json` results to a file or to standard output.
#pragma once

#include <cstdio>
#include <string>

namespace samples {

/// The help text of the option `--json`.
inline constexpr const char* json_help =
    "Write the results to this file as JSON; -: to standard output, without other text";

/// A file that every write() replaces, or standard output if the path is "-". Standard output then gets only the last
/// document, and everything else that the program prints goes to standard error.
class JsonOutput {
 public:
  /// Throws std::runtime_error when the file cannot be written. With an empty path nothing is written.
  explicit JsonOutput(std::string path);
  ~JsonOutput();
  JsonOutput(const JsonOutput&) = delete;
  JsonOutput& operator=(const JsonOutput&) = delete;
  explicit operator bool() const { return !path_.empty(); }
  /// Writes a document. If there are several documents, only the last one remains.
  void write(const std::string& document);
  /// Call this after the last document.
  void finish();

 private:
  std::string path_, last_;
  std::FILE* standard_output_ = nullptr;  ///< Set only for the path "-".
};

}  // namespace samples
