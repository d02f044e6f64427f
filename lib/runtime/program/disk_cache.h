// Program binaries on disk. Any failure means that the program is not there. The caller then compiles it from source.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crisol/kernel_cache.h"

namespace crisol::runtime {

struct CachedProgram {
  /// A line for people that names the program and the device.
  std::string title;
  std::vector<unsigned char> binary;
  /// The kernels and local sizes whose code is in the binary. PoCL adds this code at a kernel's first run.
  std::vector<std::string> warmed;
};

class DiskCache {
 public:
  /// `folder` is the folder of the cache. With an empty name the cache holds nothing.
  explicit DiskCache(std::string folder) : folder_(std::move(folder)) {}

  /// The folder that the program chose, or else the value of CRISOL_CACHE_DIR, or else system::cache_folder().
  static std::string default_folder();

  /// `key` identifies a program completely: source, options, platform, device, driver.
  std::optional<CachedProgram> load(std::string_view key) const;
  /// Writes a temporary file and renames it, so that a reader sees the whole file or no file. Returns whether this
  /// succeeded.
  bool store(std::string_view key, const CachedProgram& program) const;

  std::string path_of(std::string_view key) const;

  const std::string& folder() const noexcept { return folder_; }
  /// Every program in the folder, sorted by title. A damaged file has no title.
  std::vector<CacheEntry> entries() const;
  /// Removes all programs, and the temporary files of killed writers. Other files stay. Returns the number of removed
  /// files. Throws io if a file cannot be removed.
  std::int64_t clear() const;

 private:
  std::string folder_;
};

}  // namespace crisol::runtime
