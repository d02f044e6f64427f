// What only a person at a terminal wants to see. terminal_posix.cpp and terminal_windows.cpp know the terminals.
#pragma once

#include <string>

namespace crisol::cli {

/// Lets a console show text in UTF-8 until the program ends; called once, before any output.
void prepare_terminal();

/// Standard output is a terminal that understands escape sequences, and NO_COLOR is not set (no-color.org).
bool is_styled();

/// The text in bold where is_styled(), else as it is.
std::string bold(const std::string& text);

}  // namespace crisol::cli
