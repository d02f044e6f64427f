// A file system of a few KiB, for what happens on a full or read-only disk.
#pragma once

#include <string>

#include "support/subprocess.h"

namespace crisol::testing {

/// Mounted in memory for the scope's time, which takes root's rights and Linux.
class SmallDisk {
 public:
  explicit SmallDisk(int kib);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  /// False where it could not be mounted: skip the test.
  bool mounted() const noexcept { return mounted_; }
  const std::string& path() const noexcept { return folder_.path(); }
  void make_read_only() const;
  /// Leaves no byte free, by a file "filler".
  void fill() const;

 private:
  TemporaryFolder folder_;
  bool mounted_ = false;
};

}  // namespace crisol::testing
