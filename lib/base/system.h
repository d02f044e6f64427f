// What each operating system does in its own way: system_posix.cpp and system_windows.cpp. Text is UTF-8 on all of
// them.
#pragma once

#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <system_error>

namespace crisol::system {

/// A path from UTF-8, which is how crisol's interface writes paths, and back. On Windows a path made from a plain
/// string is read in the code page of the program instead.
inline std::filesystem::path path_of(std::string_view text) { return std::u8string(text.begin(), text.end()); }
inline std::string text_of(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return {text.begin(), text.end()};
}

/// A variable of the environment; empty where it is not set.
std::string environment(const char* variable);

/// Where programs of this user keep what can be made again, in a folder for crisol; empty where the environment does
/// not say. On POSIX systems $XDG_CACHE_HOME/crisol or ~/.cache/crisol, on Windows %LOCALAPPDATA%\crisol.
std::string cache_folder();

/// Opens a new file for writing bytes; null, with errno, where that fails or the file exists.
std::FILE* create_file(const std::filesystem::path& path);
/// Whether everything that was written to the file is on the disk; sets errno.
bool flush_to_disk(std::FILE* file);
/// Gives `from` the name `to`, whose old file goes. A program that opens `to` finds the old file or the new one. On
/// Windows the call waits up to a second for programs that have the old file open.
void replace_file(const std::filesystem::path& from, const std::filesystem::path& to, std::error_code& error);
/// Makes a new name in this folder durable, where the system can.
void flush_folder(const std::filesystem::path& folder);

/// Calls a function when the process ends, the last one first, while its other threads still work. (On Windows
/// std::atexit in a DLL calls it later, when the threads of OpenCL's drivers are gone.)
void at_exit(void (*function)());

/// The function of the first of these shared libraries that can be loaded; null where there is none.
void* library_function(std::initializer_list<const char*> libraries, const char* function);

}  // namespace crisol::system
