// Files of the cache, whose programs run in this process and whose entries choose kernels. What another user can change
// is passed over.
#pragma once

#include <string>

namespace crisol::runtime {

/// Why a file or folder is passed over, with the remedy. Empty if it is used or does not exist.
std::string distrust_of(const std::string& path);

/// Whether distrust_of is empty. Otherwise the reason is said on stderr, once in a process for each folder.
bool is_trusted_folder(const std::string& folder);

/// The content of a file. Empty if the file or its folder is not trusted, which is said in the same way, or if the file
/// cannot be read.
std::string read_trusted(const std::string& path);

/// Throws io with the op unless the file and its folder are trusted or do not exist.
void require_trusted(const char* op, const std::string& path);

}  // namespace crisol::runtime
