// What only a person at a terminal wants to see.
#pragma once

#include <string>

namespace crisol::cli {

/// The text in bold when standard output is a terminal and NO_COLOR is not set (no-color.org); else as it is.
std::string bold(const std::string& text);

}  // namespace crisol::cli
