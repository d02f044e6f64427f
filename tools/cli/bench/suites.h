// Lists of cases that belong together.
#pragma once

#include <string>
#include <vector>

namespace crisol::cli::bench {

/// The lines of a suite by its name, or of all suites for "all". Throws UsageError with the list of names for an
/// unknown name.
std::vector<std::string> suite(const std::string& name);

/// "eltwise, cpu, …, all".
std::string suite_names();

}  // namespace crisol::cli::bench
