// Starts a process for support/subprocess.h, on each operating system: subprocess_posix.cpp and subprocess_windows.cpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "support/subprocess.h"

namespace crisol::testing {

enum class Output { pipe, terminal };

/// Runs a command to its end. The first word is the program's path. With `kill_when`, kills the process as soon as
/// `kill_when` is true.
ProcessResult run_process(const std::vector<std::string>& command, const Environment& environment,
                          const std::function<bool()>& kill_when = {}, Output output = Output::pipe);

}  // namespace crisol::testing
