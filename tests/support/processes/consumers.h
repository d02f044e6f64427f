// Builds the programs of tests/consumer/ with an installed crisol, as users do.
#pragma once

#include <string>

#include "support/processes/subprocess.h"

namespace crisol::testing {

/// The folder tests/consumer/.
std::string consumers_folder();

/// The start of the C++ consumer's output.
extern const char* const consumer_output;

/// A compiler flag with which no program can include OpenCL's headers. Headers in a folder below `folder` shadow them.
std::string without_opencl_headers(const TemporaryFolder& folder);

/// Fails the running test case unless a CMake project finds crisol in this prefix and its program runs.
void check_find_package(const TemporaryFolder& folder, const std::string& prefix);

/// The same for a Makefile in C++ and in C. It calls pkg-config with these arguments. `libraries` is the folder that
/// contains the package's pkgconfig/. Without pkg-config, make or cc, the case counts as skipped.
void check_pkg_config(const TemporaryFolder& folder, const std::string& libraries, const std::string& arguments = "");

}  // namespace crisol::testing
