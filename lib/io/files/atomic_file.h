// A file that appears complete or not at all.
#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string>

namespace crisol::io {

/// Writes to a temporary file in the target's folder. commit() flushes the file to the disk and renames it. Without
/// commit() the destructor removes the file. A failure throws Error (ErrorCode::io) with `op`, the path and the reason.
class AtomicFile {
 public:
  AtomicFile(const char* op, const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* bytes, std::size_t count);
  void commit();

 private:
  [[noreturn]] void fail_with_errno(const char* what) const;

  const char* op_;
  std::filesystem::path target_, temporary_;
  std::FILE* file_ = nullptr;
};

}  // namespace crisol::io
