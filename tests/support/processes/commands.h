// Commands for building and packaging, which must succeed.
#pragma once

#include <string>
#include <vector>

#include "support/processes/subprocess.h"
#include "support/skip.h"

namespace crisol::testing {

/// Runs a command, found in PATH, and returns its output. The test case ends if the command fails.
std::string run_command(const std::vector<std::string>& words, const Environment& environment = {});

/// Whether PATH has a program of this name.
bool have_command(const std::string& name);

}  // namespace crisol::testing

/// Skips the test case if a command is missing: NEEDS_COMMANDS("cmake", "make");
#define NEEDS_COMMANDS(...)                                                                               \
  do {                                                                                                    \
    for (const char* needed : {__VA_ARGS__})                                                              \
      if (!crisol::testing::have_command(needed)) CRISOL_SKIP(needed + std::string(" is not installed")); \
  } while (false)
