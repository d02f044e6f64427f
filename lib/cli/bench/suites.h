// Lists of cases that belong together.
#pragma once

#include <string>
#include <vector>

namespace crisol::cli::bench {

/// The lines of a suite by name, or of all of them for "all"; throws UsageError with the names for another one.
std::vector<std::string> suite(const std::string& name);

/// "eltwise, cpu, …, all".
std::string suite_names();

}  // namespace crisol::cli::bench
