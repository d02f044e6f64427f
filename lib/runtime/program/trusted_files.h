// Files of the cache. Programs from these files run in this process, and their entries choose kernels. So a file is
// ignored if another user can change it.
#pragma once

#include <string>

namespace crisol::runtime {

/// The reason why a file or folder is ignored, and what to do about it. Empty if the file is used or does not exist.
std::string distrust_of(const std::string& path);

/// Returns whether distrust_of is empty. If not, it prints the reason on stderr, once in a process for each folder.
bool is_trusted_folder(const std::string& folder);

/// The content of a file. Empty if the file cannot be read, or if the file or its folder is not trusted. Then the
/// reason is printed as by is_trusted_folder.
std::string read_trusted(const std::string& path);

/// Throws io with the op unless the file and its folder are trusted or do not exist.
void require_trusted(const char* op, const std::string& path);

}  // namespace crisol::runtime
