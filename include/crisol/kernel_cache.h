// The folder in which compiled kernels wait for the next process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crisol/export.h"

namespace crisol {

/// A compiled program on disk.
struct CacheEntry {
  std::string file;         ///< Its whole path.
  std::string title;        ///< Program, device, platform and driver; empty for a damaged file, which is never used.
  std::uint64_t bytes = 0;  ///< Size of the file.
};

/// CRISOL_CACHE_DIR, else $XDG_CACHE_HOME/crisol, else ~/.cache/crisol (on Windows LOCALAPPDATA/crisol); empty when
/// none of these is set, and then nothing is kept.
CRISOL_API std::string kernel_cache_folder();

/// Why the folder is not used, and what to do about it: another user owns it or can write to it, and could put programs
/// there that this process would run. Empty if the folder is used, is not there yet, or if there is none. Files in it
/// that another user owns or can write are passed over too, with a message on stderr.
CRISOL_API std::string kernel_cache_fault();

/// What the folder holds, sorted by title.
CRISOL_API std::vector<CacheEntry> kernel_cache_entries();

/// Removes all compiled programs from the folder, and no other file; returns how many files that were. Programs that
/// run now keep what they have compiled. Throws io, naming the file, when one cannot be removed.
CRISOL_API std::int64_t clear_kernel_cache();

}  // namespace crisol
