// What operating systems do in their own ways: system_posix.cpp and system_windows.cpp.
#pragma once

#include <cstdio>
#include <string>

namespace samples {

/// stdout is a terminal that can move its cursor.
bool is_terminal();

/// Lets a console show text in UTF-8, which is what terminals elsewhere expect.
void use_utf8();

/// Whether this file may be written, which must be there; else the reason is in errno.
bool may_write(const std::string& path);

/// A file for what standard output was; what is printed from now on goes to standard error, also what drivers print,
/// which have the descriptor alone. Null where that fails.
std::FILE* take_standard_output();

}  // namespace samples
