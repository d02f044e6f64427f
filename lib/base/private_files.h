// Folders and files that only this user may change, because the library runs code from them. private_files_posix.cpp
// and private_files_windows.cpp hold the functions.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

namespace crisol::system {

/// Makes a folder and its missing parents. Only this user may look into the new folders (0700 on POSIX systems,
/// whatever the umask). On Windows a folder takes the access rights of its parent, and LOCALAPPDATA is the user's own.
void make_private_folder(const std::filesystem::path& folder, std::error_code& error);

/// Like create_file, for a file that only this user may read (0600 on POSIX systems, whatever the umask).
std::FILE* create_private_file(const std::filesystem::path& path);

/// The reason why other users can change a file or the contents of a folder, for example "belongs to another user".
/// Null if there is no reason. A path that does not exist has no reason. Files of the system's administrator count as
/// the user's own. So does a folder like /tmp, where a user can remove only own files (the sticky bit), because each
/// file is examined. On Windows the result is always null.
const char* access_of_others(const std::filesystem::path& path);

/// The content of a file. If the file cannot be read, or `fault` is set, the text is empty. `fault` is the reason of
/// access_of_others for the file that was opened, or null.
struct PrivateText {
  std::string text;
  const char* fault = nullptr;
};
PrivateText read_private(const std::filesystem::path& path);

}  // namespace crisol::system
