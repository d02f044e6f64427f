// Files of the cache. Their programs run in this process, and their entries choose kernels. So a file that another user
// can change is ignored.
#pragma once

#include <string>

namespace crisol::runtime {

/// The reason why a file or folder is ignored, with the remedy. Empty if it is used or does not exist.
std::string distrust_of(const std::string& path);

/// Whether distrust_of is empty. Otherwise it prints the reason on stderr, once in a process for each folder.
bool is_trusted_folder(const std::string& folder);

/// The content of a file. Empty if the file cannot be read, or if the file or its folder is not trusted. The reason is
/// printed in the same way.
std::string read_trusted(const std::string& path);

/// Throws io with the op unless the file and its folder are trusted or do not exist.
void require_trusted(const char* op, const std::string& path);

}  // namespace crisol::runtime
