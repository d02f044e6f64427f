#include "runtime/locked_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "base/text.h"

#ifndef _WIN32
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace crisol::runtime {

namespace fs = std::filesystem;

LockedFile::LockedFile(const char* op, const std::string& path) : op_(op), path_(path) {
  std::error_code error;
  if (const fs::path folder = fs::path(path).parent_path(); !folder.empty()) fs::create_directories(folder, error);
  if (error) fail_with("cannot be created", error.message());
  open();
}

#ifndef _WIN32

// The lock belongs to the file, not to its name: whoever waited while another put a new file there begins anew.
void LockedFile::open() {
  for (;;) {
    handle_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (handle_ < 0) fail_with("cannot be opened for writing", std::strerror(errno));
    while (flock(handle_, LOCK_EX) != 0)
      if (errno != EINTR) {
        const std::string reason = std::strerror(errno);
        ::close(handle_);
        fail_with("cannot be locked", reason);
      }
    struct stat mine {
    }, named{};
    if (fstat(handle_, &mine) == 0 && stat(path_.c_str(), &named) == 0 && mine.st_dev == named.st_dev &&
        mine.st_ino == named.st_ino)
      return;
    ::close(handle_);
  }
}

LockedFile::~LockedFile() { ::close(handle_); }

#else

// No lock: of two processes that write at once, the later one wins.
void LockedFile::open() {}
LockedFile::~LockedFile() = default;

#endif

std::string LockedFile::read() const { return read_whole(path_); }

void LockedFile::replace(std::string_view text) {
  std::random_device random;
  const fs::path temporary = concat(path_, '.', random(), random(), ".tmp");
  std::error_code error;
  {
    std::ofstream file(temporary, std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.close();
    if (!file) {
      fs::remove(temporary, error);
      fail_with("cannot be written", "the folder is full or not writable");
    }
  }
  fs::rename(temporary, path_, error);
  if (!error) return;
  std::error_code ignored;
  fs::remove(temporary, ignored);
  fail_with("cannot be written", error.message());
}

void LockedFile::fail_with(const char* what, const std::string& reason) const {
  fail(ErrorCode::io, op_, path_, ' ', what, ": ", reason);
}

std::string read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace crisol::runtime
