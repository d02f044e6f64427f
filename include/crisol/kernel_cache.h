// The folder that stores compiled kernels for later processes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crisol/export.h"

namespace crisol {

/// A compiled program on disk.
struct CacheEntry {
  std::string file;         ///< The full path of the file.
  std::string title;        ///< Program, device, platform and driver. Empty for a damaged file, which is never used.
  std::uint64_t bytes = 0;  ///< Size of the file.
};

/// The folder: that of set_kernel_cache_folder, otherwise CRISOL_CACHE_DIR, otherwise $XDG_CACHE_HOME/crisol, otherwise
/// ~/.cache/crisol (on Windows LOCALAPPDATA/crisol). If none of these is set, the result is empty, and nothing is
/// stored.
CRISOL_API std::string kernel_cache_folder();

/// Uses another folder from now on, in the whole process. Kernels that are loaded already stay. An empty text goes back
/// to the folder of the environment.
CRISOL_API void set_kernel_cache_folder(const std::string& folder);

/// Why the folder is not used, and what to do about it. A folder is not used if another user owns it or can write to
/// it: such a user could put programs there that this process would run. The result is empty if the folder is used,
/// does not exist yet, or is not set. Files in the folder that another user owns or can write are skipped too, with a
/// message on stderr.
CRISOL_API std::string kernel_cache_fault();

/// The compiled programs in the folder, sorted by title.
CRISOL_API std::vector<CacheEntry> kernel_cache_entries();

/// Removes all compiled programs from the folder, and no other file. Returns the number of removed files. Running
/// processes keep the kernels that they have loaded. Throws io, naming the file, if a file cannot be removed.
CRISOL_API std::int64_t clear_kernel_cache();

}  // namespace crisol
