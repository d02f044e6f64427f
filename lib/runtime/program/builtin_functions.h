// Declarations of OpenCL's functions, for implementations that would read all of them for each program.
#pragma once

#include <string>
#include <string_view>

namespace crisol::runtime {

/// Declares the functions of OpenCL C 1.2 that `source` names, with every type that the specification lists. A few
/// functions that no kernel of the library calls are left out, as are those of later versions and of extensions.
std::string builtin_declarations(std::string_view source);

}  // namespace crisol::runtime
