// Functions that differ between operating systems: see system_posix.cpp and system_windows.cpp.
#pragma once

#include <cstdio>
#include <string>

namespace samples {

/// Makes a Windows console show text in UTF-8. Other terminals expect UTF-8 already.
void use_utf8();

/// Whether this existing file may be written. If not, errno holds the reason.
bool may_write(const std::string& path);

/// Returns a file for the former standard output, or null on failure. From then on, everything that is printed goes to
/// standard error. This includes what drivers print, because the file descriptor itself is replaced.
std::FILE* take_standard_output();

/// Sets a variable of this process.
void set_variable(const char* name, const std::string& value);

/// Opens a shared library, which stays open. Throws std::runtime_error with the system's reason.
void* open_library(const char* name);
/// A function of a library by its name. Throws std::runtime_error if the library has none.
void* function_of(void* library, const char* name);

}  // namespace samples
