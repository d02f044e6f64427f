// Declarations of OpenCL's functions, for implementations that would read all of them for each program.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace crisol::runtime {

/// Declares the functions of OpenCL C 1.2 that `source` names, with every type that the specification lists. Gives
/// nothing if the source calls one of the few functions that have no declaration here. A source may still call a
/// function of a later OpenCL or of an extension, and does not build with these declarations alone.
std::optional<std::string> builtin_declarations(std::string_view source);

}  // namespace crisol::runtime
