#include "support/small_disk.h"

#include <fstream>
#include <stdexcept>

#if defined(__linux__)
#include <sys/mount.h>
#endif

namespace crisol::testing {

#if defined(__linux__)

SmallDisk::SmallDisk(int kib) {
  const std::string size = "size=" + std::to_string(kib) + "k";
  mounted_ = mount("tmpfs", path().c_str(), "tmpfs", 0, size.c_str()) == 0;
}

SmallDisk::~SmallDisk() {
  if (mounted_) umount2(path().c_str(), MNT_DETACH);
}

void SmallDisk::make_read_only() const {
  if (mount(nullptr, path().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) != 0)
    throw std::runtime_error("cannot make " + path() + " read-only");
}

#else

SmallDisk::SmallDisk(int) {}
SmallDisk::~SmallDisk() = default;
void SmallDisk::make_read_only() const {}

#endif

void SmallDisk::fill() const {
  std::ofstream file(path() + "/filler", std::ios::binary);
  while (file.put('x').flush()) {
  }
}

}  // namespace crisol::testing
