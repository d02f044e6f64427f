// Commands of the build and of packaging, which a test wants to succeed.
#pragma once

#include <string>
#include <vector>

#include "support/subprocess.h"

namespace crisol::testing {

/// What a command, found in PATH, writes; the test case ends where it fails.
std::string run_command(const std::vector<std::string>& words, const Environment& environment = {});

/// Whether PATH has a program of this name.
bool have_command(const std::string& name);

}  // namespace crisol::testing
