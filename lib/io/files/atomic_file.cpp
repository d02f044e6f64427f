#include "io/files/atomic_file.h"

#include <cerrno>
#include <cstring>
#include <random>

#include "base/system.h"
#include "base/text.h"

namespace crisol::io {

AtomicFile::AtomicFile(const char* op, const std::string& path) : op_(op), target_(system::path_of(path)) {
  std::random_device random;
  temporary_ = system::path_of(concat(path, '.', random(), random(), ".tmp"));
  file_ = system::create_file(temporary_);
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
  if (!system::flush_to_disk(file_)) fail_with_errno("cannot be written");
  std::FILE* file = file_;
  file_ = nullptr;
  if (std::fclose(file) != 0) fail_with_errno("cannot be written");
  std::error_code error;
  system::replace_file(temporary_, target_, error);
  if (error) fail(ErrorCode::io, op_, system::text_of(target_), " cannot be written: ", error.message());
  temporary_.clear();
  system::flush_folder(target_.parent_path());
}

void AtomicFile::fail_with_errno(const char* what) const {
  fail(ErrorCode::io, op_, system::text_of(target_), ' ', what, ": ", std::strerror(errno));
}

}  // namespace crisol::io
