// Functions that differ between operating systems, in system_posix.cpp and system_windows.cpp. All texts are
// UTF-8.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace crisol::system {

/// Conversion between paths and UTF-8. Crisol's interface has paths in UTF-8, but Windows would read a plain string in
/// the code page of the program.
inline std::filesystem::path path_of(std::string_view text) { return std::u8string(text.begin(), text.end()); }
inline std::string text_of(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return {text.begin(), text.end()};
}

/// The value of an environment variable; empty if it is not set.
std::string environment(const char* variable);

/// The folder in which programs of this user keep files of crisol that can be made again. Empty if the environment
/// names no such folder. On POSIX systems it is $XDG_CACHE_HOME/crisol or ~/.cache/crisol, on Windows
/// %LOCALAPPDATA%\crisol.
std::string cache_folder();

/// Opens a new file for writing bytes. Returns null and sets errno if the file exists or cannot be made.
std::FILE* create_file(const std::filesystem::path& path);
/// Writes everything to the disk. Returns false and sets errno if this fails.
bool flush_to_disk(std::FILE* file);
/// Renames `from` to `to`, and replaces an old file of this name. A program that opens `to` finds the old file or the
/// new file. On Windows the call waits up to a second while other programs have the old file open.
void replace_file(const std::filesystem::path& from, const std::filesystem::path& to, std::error_code& error);
/// Makes new names in this folder durable, if the system can.
void flush_folder(const std::filesystem::path& folder);

/// Calls a function when the process ends, while its other threads still work. The last function that was given is
/// called first. On Windows, std::atexit in a DLL would call it later, when the threads of OpenCL's drivers have ended.
void at_exit(void (*function)());

/// The number of this process.
long process_number() noexcept;

/// Whether standard output is a terminal that can move its cursor.
bool is_terminal();
/// Whether standard error is a terminal.
bool errors_go_to_terminal();

/// A function of a shared library. The library is loaded, and stays loaded. Null if the library or the function is
/// missing.
void* library_function(const char* library, const char* function);

}  // namespace crisol::system
