// A small text file that several processes change.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace crisol::runtime {

/// Opens a file, which is made if need be, and keeps other LockedFiles of the same path waiting while it lives.
/// Failures throw Error (ErrorCode::io) with `op`, the path and the reason.
class LockedFile {
 public:
  LockedFile(const char* op, const std::string& path);
  ~LockedFile();
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;

  std::string read() const;
  /// Puts a new file in its place: a reader sees all of the old text or of the new one. At most once.
  void replace(std::string_view text);

 private:
  void open();
  [[noreturn]] void fail_with(const char* what, const std::string& reason) const;

  const char* op_;
  std::string path_;
  std::intptr_t handle_ = -1;  ///< Of the operating system, which holds the lock while it is open.
};

/// All of a file, or nothing where it cannot be read.
std::string read_whole(const std::string& path);

}  // namespace crisol::runtime
