// Test cases that cannot run here, and smaller sizes for slow devices.
#pragma once

#include <string>

namespace crisol::testing {

/// Counts the running test case as skipped. The run ends with a list of skipped cases and their reasons.
void note_skip(const std::string& reason);

/// Whether the default device does less than a hundred million operations a second (oclgrind, or CRISOL_TEST_SLOW says
/// so). Then tests use smaller sizes.
bool slow_device();

/// Whether a launch takes a millisecond or more (oclgrind, rusticl). Tests that run a network for each element then
/// check fewer elements.
bool slow_launches();

}  // namespace crisol::testing

/// Skips the test case on Windows: NEEDS_POSIX("a shell").
#ifdef _WIN32
#define NEEDS_POSIX(what) CRISOL_SKIP("needs " what ", which tests on Windows lack")
#else
#define NEEDS_POSIX(what) static_cast<void>(0)
#endif

/// Skips the rest of the test case: CRISOL_SKIP("needs fp16");
#define CRISOL_SKIP(reason)               \
  do {                                    \
    ::crisol::testing::note_skip(reason); \
    return;                               \
  } while (false)
