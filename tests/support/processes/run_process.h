// Starts a process for support/processes/subprocess.h, on each operating system: subprocess_posix.cpp and
// subprocess_windows.cpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "support/processes/subprocess.h"

namespace crisol::testing {

enum class Output { pipe, terminal };

/// Runs a command to its end. The first word is the program's path. With `kill_when`, kills the process as soon as
/// `kill_when` is true.
ProcessResult run_process(const std::vector<std::string>& command, const Environment& environment,
                          const std::function<bool()>& kill_when = {}, Output output = Output::pipe);

/// Whether an OpenCL driver sees the variables that a test sets for a child. Under Wine, Linux's drivers see only the
/// variables with which Wine was started.
bool drivers_see_variables();

}  // namespace crisol::testing
