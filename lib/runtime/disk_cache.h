// Program binaries on disk. Any failure means "not there": the caller compiles from source.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crisol/kernel_cache.h"

namespace crisol::runtime {

struct CachedProgram {
  /// For people, in one line: which program, for which device.
  std::string title;
  std::vector<unsigned char> binary;
  /// Kernels and local sizes whose code the binary is known to hold (PoCL adds it at a kernel's first run).
  std::vector<std::string> warmed;
};

class DiskCache {
 public:
  /// A folder; an empty name is a cache that holds nothing.
  explicit DiskCache(std::string folder) : folder_(std::move(folder)) {}

  /// CRISOL_CACHE_DIR, else system::cache_folder().
  static std::string default_folder();

  /// `key` is the whole identity of a program: source, options, platform, device, driver.
  std::optional<CachedProgram> load(std::string_view key) const;
  /// Written under a temporary name and renamed, so that a reader sees all of it or nothing.
  void store(std::string_view key, const CachedProgram& program) const;

  std::string path_of(std::string_view key) const;

  const std::string& folder() const noexcept { return folder_; }
  /// Every program in the folder, by title; a damaged one has none.
  std::vector<CacheEntry> entries() const;
  /// Removes all programs, and what killed writers left; no other file. Returns how many files that were; throws io
  /// when one cannot be removed.
  std::int64_t clear() const;

 private:
  std::string folder_;
};

}  // namespace crisol::runtime
