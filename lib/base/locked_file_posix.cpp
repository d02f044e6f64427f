#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/locked_file.h"

namespace crisol {

// The lock belongs to the file, not to its name. If another process put a new file in place while this process waited,
// this process starts again.
void LockedFile::open() {
  for (;;) {
    const int handle = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (handle < 0) fail_with("cannot be opened for writing", std::strerror(errno));
    while (flock(handle, LOCK_EX) != 0)
      if (errno != EINTR) {
        const std::string reason = std::strerror(errno);
        ::close(handle);
        fail_with("cannot be locked", reason);
      }
    struct stat mine {
    }, named{};
    if (fstat(handle, &mine) == 0 && stat(path_.c_str(), &named) == 0 && mine.st_dev == named.st_dev &&
        mine.st_ino == named.st_ino) {
      handle_ = handle;
      return;
    }
    ::close(handle);
  }
}

LockedFile::~LockedFile() { ::close(static_cast<int>(handle_)); }

}  // namespace crisol
