// The text of the kernels: embedded in the library, or from CRISOL_KERNEL_PATH.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace crisol::runtime {

/// Every file of cl_kernels/ by its relative path, generated at build time.
const std::map<std::string_view, std::string_view>& embedded_kernels();

/// The prelude and behind it the file `name` (none if empty), with each `#include "file"` replaced by that file, once
/// per program. Throws build_failure, naming the file, when one does not exist.
std::string expanded_source(std::string_view prelude, std::string_view name);

}  // namespace crisol::runtime
