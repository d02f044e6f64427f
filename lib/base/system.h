// Functions that each operating system does in its own way: system_posix.cpp and system_windows.cpp. All texts are
// UTF-8.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace crisol::system {

/// Conversion between paths and UTF-8, which crisol's interface uses for paths. Windows would read a plain string in
/// the code page of the program instead.
inline std::filesystem::path path_of(std::string_view text) { return std::u8string(text.begin(), text.end()); }
inline std::string text_of(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return {text.begin(), text.end()};
}

/// The value of an environment variable; empty if it is not set.
std::string environment(const char* variable);

/// The folder for crisol in which this user's programs keep files that can be made again. It is empty if the
/// environment names no such folder. On POSIX systems it is $XDG_CACHE_HOME/crisol or ~/.cache/crisol, on Windows
/// %LOCALAPPDATA%\crisol.
std::string cache_folder();

/// Opens a new file for writing bytes. Returns null and sets errno if the file exists or cannot be made.
std::FILE* create_file(const std::filesystem::path& path);
/// Returns true if everything that was written to the file is on the disk; sets errno otherwise.
bool flush_to_disk(std::FILE* file);
/// Renames `from` to `to` and replaces an old file of that name. A program that opens `to` finds the old file or the
/// new one. On Windows the call waits up to a second for programs that have the old file open.
void replace_file(const std::filesystem::path& from, const std::filesystem::path& to, std::error_code& error);
/// Makes a new name in this folder durable, if the system can.
void flush_folder(const std::filesystem::path& folder);

/// Calls a function when the process ends, the last one first, while its other threads still work. On Windows
/// std::atexit in a DLL would call it later, after the threads of OpenCL's drivers have ended.
void at_exit(void (*function)());

/// The number of this process.
long process_number() noexcept;

/// Standard output is a terminal that can move its cursor.
bool is_terminal();
/// Standard error is a terminal.
bool errors_go_to_terminal();

/// A function of a shared library, which is loaded and stays loaded. Null if the library or the function is missing.
void* library_function(const char* library, const char* function);

}  // namespace crisol::system
