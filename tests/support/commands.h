// Commands of the build and of packaging, which a test wants to succeed.
#pragma once

#include <string>
#include <vector>

#include "support/skip.h"
#include "support/subprocess.h"

namespace crisol::testing {

/// What a command, found in PATH, writes; the test case ends where it fails.
std::string run_command(const std::vector<std::string>& words, const Environment& environment = {});

/// Whether PATH has a program of this name.
bool have_command(const std::string& name);

}  // namespace crisol::testing

/// Leaves the test case where a command is missing: NEEDS_COMMANDS("cmake", "make");
#define NEEDS_COMMANDS(...)                                                                               \
  do {                                                                                                    \
    for (const char* needed : {__VA_ARGS__})                                                              \
      if (!crisol::testing::have_command(needed)) CRISOL_SKIP(needed + std::string(" is not installed")); \
  } while (false)
