// Other processes: for what only a fresh process shows (environment variables, no platform, being killed).
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace crisol::testing {

struct ProcessResult {
  int status = 0;      ///< Exit code, or 128 + signal.
  std::string out;     ///< Standard output alone: what a script reads. On a terminal it holds both.
  std::string errors;  ///< Standard error alone.
  std::string output;  ///< Both together, as a user sees them.
};

using Environment = std::vector<std::pair<std::string, std::string>>;

/// Sets a variable of this process; an empty value removes it.
void set_variable(const std::string& name, const std::string& value);

/// The path of this test program.
std::string own_program();

/// Runs this test program again for one test case, whose name begins with "child:" and which is skipped otherwise, with
/// variables changed (an empty value removes one).
ProcessResult run_child(const std::string& test_case, const Environment& environment);

/// Runs another program with these arguments and variables changed (an empty value removes one).
ProcessResult run_program(const std::string& program, const std::vector<std::string>& arguments,
                          const Environment& environment = {});

/// As run_program, with a terminal for its output, which ends lines with "\\r\\n".
ProcessResult run_program_on_terminal(const std::string& program, const std::vector<std::string>& arguments,
                                      const Environment& environment = {});

/// As run_child, but kills the process (SIGKILL) after so many milliseconds.
ProcessResult run_child_and_kill(const std::string& test_case, const Environment& environment, int after_ms);

/// As run_program, but kills the process (SIGKILL) as soon as `when` holds, which is asked every few milliseconds.
ProcessResult run_program_and_kill(const std::string& program, const std::vector<std::string>& arguments,
                                   const Environment& environment, const std::function<bool()>& when);

/// A new folder that is removed with all it holds at the end of the scope.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace crisol::testing
