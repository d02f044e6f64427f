// The crisol command, as users run it.
#pragma once

#include <string>
#include <vector>

#include "support/subprocess.h"

namespace crisol::testing {

/// Beside this program; empty when it is not built.
std::string crisol_program();

/// Runs it on the default device's platform; variables as in run_program.
ProcessResult run_crisol(const std::vector<std::string>& words, const Environment& environment = {});

/// The words of a line, separated by blanks.
std::vector<std::string> words_of(const std::string& line);

}  // namespace crisol::testing
