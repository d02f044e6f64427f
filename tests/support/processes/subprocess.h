// Other processes, for tests that need a new process (environment variables, no platform, being killed).
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace crisol::testing {

struct ProcessResult {
  int status = 0;      ///< Exit code, or 128 + signal.
  std::string out;     ///< Only standard output, as a script reads it. On a terminal it holds both.
  std::string errors;  ///< Only standard error.
  std::string output;  ///< Both streams together, as a user sees them.
};

using Environment = std::vector<std::pair<std::string, std::string>>;

/// Sets a variable of this process; an empty value removes it.
void set_variable(const std::string& name, const std::string& value);

/// The path of this test program.
std::string own_program();

/// Runs this test program again for one test case, with variables changed (an empty value removes one). The test case's
/// name begins with "child:", and it is skipped otherwise.
ProcessResult run_child(const std::string& test_case, const Environment& environment);

/// Runs another program with these arguments and variables changed (an empty value removes one).
ProcessResult run_program(const std::string& program, const std::vector<std::string>& arguments,
                          const Environment& environment = {});

/// Like run_program, but with a terminal for the output. The terminal ends lines with "\\r\\n".
ProcessResult run_program_on_terminal(const std::string& program, const std::vector<std::string>& arguments,
                                      const Environment& environment = {});

/// Like run_child, but kills the process (SIGKILL) after this time.
ProcessResult run_child_and_kill(const std::string& test_case, const Environment& environment, int after_ms);

/// Like run_program, but kills the process (SIGKILL) as soon as `when` is true. Calls `when` every few milliseconds.
ProcessResult run_program_and_kill(const std::string& program, const std::vector<std::string>& arguments,
                                   const Environment& environment, const std::function<bool()>& when);

/// A new folder. The end of the scope removes it with its content.
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

/// Checks that the process of a run_child ran its test case, and that the case passed.
#define CHECK_PASSED(result)                                                                              \
  CHECK_MESSAGE((result).output.find("crisol_tests: 1 passed, 0 failed, 0 skipped") != std::string::npos, \
                (result).output)
