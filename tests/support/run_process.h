// How each operating system starts a process for support/subprocess.h: subprocess_posix.cpp and subprocess_windows.cpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "support/subprocess.h"

namespace crisol::testing {

enum class Output { pipe, terminal };

/// Runs a command, whose first word is the program's path, to its end. With `kill_when`, kills the process as soon as
/// that holds.
ProcessResult run_process(const std::vector<std::string>& command, const Environment& environment,
                          const std::function<bool()>& kill_when = {}, Output output = Output::pipe);

}  // namespace crisol::testing
