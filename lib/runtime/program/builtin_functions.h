// Declarations of OpenCL's builtin functions. Some implementations would otherwise read the declarations of all
// functions for each program.
#pragma once

#include <string>
#include <string_view>

namespace crisol::runtime {

/// Declares the functions of OpenCL C 1.2 that `source` names, with every type that the specification lists. Leaves out
/// a few functions that no kernel of the library calls, and the functions of later versions and of extensions.
std::string builtin_declarations(std::string_view source);

}  // namespace crisol::runtime
