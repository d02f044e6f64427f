// Test cases that cannot run here, and sizes for devices that are slow.
#pragma once

#include <string>

namespace crisol::testing {

/// Counts the running test case as skipped; the run ends with the list of these and their reasons.
void note_skip(const std::string& reason);

/// The default device does less than a hundred million operations a second (oclgrind, or CRISOL_TEST_SLOW says so):
/// shrink sizes.
bool slow_device();

/// A launch takes a millisecond and more (oclgrind, rusticl): check fewer elements of what runs a network for each.
bool slow_launches();

}  // namespace crisol::testing

/// Leaves the test case on Windows: NEEDS_POSIX("a shell").
#ifdef _WIN32
#define NEEDS_POSIX(what) CRISOL_SKIP("needs " what ", which tests on Windows lack")
#else
#define NEEDS_POSIX(what) static_cast<void>(0)
#endif

/// Leaves the test case: CRISOL_SKIP("needs fp16");
#define CRISOL_SKIP(reason)               \
  do {                                    \
    ::crisol::testing::note_skip(reason); \
    return;                               \
  } while (false)
