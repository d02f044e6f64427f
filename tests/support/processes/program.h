// Runs the samples and the crisol command, which are built together with this program, as users run them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "support/processes/subprocess.h"

namespace crisol::testing {

/// The path of a program; empty if the program is not built.
std::string built_program(const std::string& name);

/// Runs a program on the default device's platform. Variables as in run_program.
ProcessResult run_built(const std::string& name, const std::vector<std::string>& arguments,
                        const Environment& environment = {});

/// Like run_built, but with a terminal for the output.
ProcessResult run_built_on_terminal(const std::string& name, const std::vector<std::string>& arguments,
                                    const Environment& environment = {});

/// Like run_built, but kills the process (SIGKILL) as soon as `when` is true.
ProcessResult run_built_and_kill(const std::string& name, const std::vector<std::string>& arguments,
                                 const std::function<bool()>& when);

/// Whether training handles only some ten images a second (llvmpipe, whose loops are slow). Then tests use few images.
bool few_images_only();

/// Checks that a program failed without a signal, and that its output contains these parts.
void check_fails(const ProcessResult& result, std::initializer_list<std::string> parts);

/// The words of a line, separated by blanks.
std::vector<std::string> words_of(const std::string& line);

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace crisol::testing

/// Skips the test case if the program is not built.
#define NEEDS_SAMPLE(name)                                                                             \
  do {                                                                                                 \
    if (crisol::testing::built_program(name).empty()) CRISOL_SKIP("the sample " name " is not built"); \
    if (crisol::testing::slow_device()) CRISOL_SKIP("a training takes too long here");                 \
  } while (false)

#define NEEDS_CRISOL()                                                                                    \
  do {                                                                                                    \
    if (crisol::testing::built_program("crisol").empty()) CRISOL_SKIP("the crisol program is not built"); \
    if (crisol::testing::slow_device()) CRISOL_SKIP("starts processes outside the simulator");            \
  } while (false)
