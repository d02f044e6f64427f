#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/text.h"
#include "io/files/mapped_file.h"

namespace crisol::io {

namespace {

std::string identity_of(const struct stat& status) { return concat(status.st_dev, ' ', status.st_ino, ' '); }

std::string state_of(const struct stat& status) {
#ifdef __APPLE__
  const timespec& changed = status.st_mtimespec;
#else
  const timespec& changed = status.st_mtim;
#endif
  return concat(identity_of(status), status.st_size, ' ', changed.tv_sec, ' ', changed.tv_nsec);
}

}  // namespace

void MappedFile::map(const char* op) {
  // O_NONBLOCK: if a pipe has replaced the file since the check, open() must not wait.
  const int handle = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (handle < 0) fail(ErrorCode::io, op, path_, ": cannot be opened: ", std::strerror(errno));
  struct stat status {};
  void* memory = nullptr;
  int error = 0;
  if (fstat(handle, &status) != 0 || !S_ISREG(status.st_mode)) {
    error = EINVAL;
  } else if (status.st_size > 0) {
    memory = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, handle, 0);
    if (memory == MAP_FAILED) error = errno;
  }
  ::close(handle);
  if (error != 0) fail(ErrorCode::io, op, path_, ": cannot be mapped: ", std::strerror(error));
  bytes_ = {static_cast<const char*>(memory), static_cast<std::size_t>(status.st_size)};
  state_ = state_of(status);
}

bool MappedFile::may_be_replaced() noexcept { return true; }

void MappedFile::require_unchanged(const char* op) const {
  struct stat status {};
  if (stat(path_.c_str(), &status) != 0 || state_.rfind(identity_of(status), 0) != 0) return;
  if (state_of(status) != state_)
    fail(ErrorCode::io, op, path_, ": the file was changed after it was loaded, and its bytes are needed again");
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

void MappedFile::give_back(std::string_view part) noexcept {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(part.data());
  const std::uintptr_t begin = (first + page - 1) / page * page, end = (first + part.size()) / page * page;
  if (begin < end) madvise(const_cast<char*>(part.data()) + (begin - first), end - begin, MADV_DONTNEED);
}

}  // namespace crisol::io
