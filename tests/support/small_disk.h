// A file system of a few KiB, for tests of full or read-only disks.
#pragma once

#include <string>

#include "support/processes/subprocess.h"

namespace crisol::testing {

inline constexpr const char* no_small_disk = "no small disk can be mounted, because this needs Linux and root's rights";

/// Mounted in memory until the end of the scope. This needs Linux and root's rights.
class SmallDisk {
 public:
  explicit SmallDisk(int kib);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  /// False if the file system could not be mounted: skip the test.
  bool mounted() const noexcept { return mounted_; }
  const std::string& path() const noexcept { return folder_.path(); }
  void make_read_only() const;
  /// Leaves no byte free: a file "filler" takes the whole space.
  void fill() const;

 private:
  TemporaryFolder folder_;
  bool mounted_ = false;
};

}  // namespace crisol::testing
