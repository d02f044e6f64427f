#include "io/atomic_file.h"

#include <cerrno>
#include <cstring>
#include <random>

#include "base/text.h"

#if defined(_WIN32)
#include <io.h>
#else
#include <fcntl.h>
#include <unistd.h>
#endif

namespace crisol::io {
namespace {

bool flush_to_disk(std::FILE* file) {
  if (std::fflush(file) != 0) return false;
#if defined(_WIN32)
  return _commit(_fileno(file)) == 0;
#else
  return fsync(fileno(file)) == 0;
#endif
}

// Makes the renaming itself durable, where the system can; the file is whole either way.
void flush_folder([[maybe_unused]] const std::filesystem::path& folder) {
#if !defined(_WIN32)
  const int handle = open(folder.empty() ? "." : folder.c_str(), O_RDONLY);
  if (handle < 0) return;
  fsync(handle);
  close(handle);
#endif
}

}  // namespace

AtomicFile::AtomicFile(const char* op, const std::string& path) : op_(op), target_(path) {
  std::random_device random;
  temporary_ = concat(path, '.', random(), random(), ".tmp");
  file_ = std::fopen(temporary_.string().c_str(), "wbx");
  if (file_ == nullptr) fail_with_errno("cannot be created");
}

AtomicFile::~AtomicFile() {
  if (file_ != nullptr) std::fclose(file_);
  std::error_code ignored;
  if (!temporary_.empty()) std::filesystem::remove(temporary_, ignored);
}

void AtomicFile::write(const void* bytes, std::size_t count) {
  if (std::fwrite(bytes, 1, count, file_) != count) fail_with_errno("cannot be written");
}

void AtomicFile::commit() {
  if (!flush_to_disk(file_)) fail_with_errno("cannot be written");
  std::FILE* file = file_;
  file_ = nullptr;
  if (std::fclose(file) != 0) fail_with_errno("cannot be written");
  std::error_code error;
  std::filesystem::rename(temporary_, target_, error);
  if (error) fail(ErrorCode::io, op_, target_.string(), " cannot be written: ", error.message());
  temporary_.clear();
  flush_folder(target_.parent_path());
}

void AtomicFile::fail_with_errno(const char* what) const {
  fail(ErrorCode::io, op_, target_.string(), ' ', what, ": ", std::strerror(errno));
}

}  // namespace crisol::io
