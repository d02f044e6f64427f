// The source of the kernels: embedded in the library, or read from CRISOL_KERNEL_PATH.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace crisol::runtime {

/// Every file of cl_kernels/ by its relative path. The build generates this map.
const std::map<std::string_view, std::string_view>& embedded_kernels();

/// The prelude, followed by the file `name` (no file if the name is empty). Each `#include "file"` is replaced by the
/// file, once for the compiler, also where the first #include of it stands under a condition that does not hold. Throws
/// build_failure, naming the file, if a file does not exist.
std::string expanded_source(std::string_view prelude, std::string_view name);

}  // namespace crisol::runtime
