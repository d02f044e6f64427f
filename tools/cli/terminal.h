// Output that only a person at a terminal needs. terminal_posix.cpp and terminal_windows.cpp know the terminals.
#pragma once

#include <string>

namespace crisol::cli {

/// Makes the console show UTF-8 text until the program ends. Called once, before any output.
void prepare_terminal();

/// True if standard output is a terminal that understands escape sequences, and NO_COLOR is not set (no-color.org).
bool is_styled();

/// The text in bold if is_styled(), otherwise unchanged.
std::string bold(const std::string& text);

}  // namespace crisol::cli
