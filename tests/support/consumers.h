// The programs of tests/consumer/, built against an installed crisol as users build theirs.
#pragma once

#include <string>

#include "support/subprocess.h"

namespace crisol::testing {

/// tests/consumer/
std::string consumers_folder();

/// What the consumer in C++ prints first.
extern const char* const consumer_output;

/// A flag for compilers, under which no program can include OpenCL's headers; they are shadowed by a folder in
/// `folder`.
std::string without_opencl_headers(const TemporaryFolder& folder);

/// Fails the running test case unless a CMake project finds crisol in this prefix, and its program runs.
void check_find_package(const TemporaryFolder& folder, const std::string& prefix);

/// The same for a Makefile, with pkg-config and these arguments of it, in C++ and in C. `libraries`: where the
/// package's pkgconfig/ lies. Counts the case as skipped without pkg-config, make or cc.
void check_pkg_config(const TemporaryFolder& folder, const std::string& libraries, const std::string& arguments = "");

}  // namespace crisol::testing
