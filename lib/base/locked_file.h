// A small text file that several processes change.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace crisol {

/// Opens a file. If the file does not exist, it is made for this user alone. While the object lives, other LockedFiles
/// of the same path wait. Failures throw Error (ErrorCode::io) with `op`, the path and the reason.
class LockedFile {
 public:
  LockedFile(const char* op, const std::string& path);
  ~LockedFile();
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;

  std::string read() const;
  /// Puts a new file in place of the old file: a reader sees the whole old text or the whole new text. May be called
  /// once.
  void replace(std::string_view text);

 private:
  void open();
  [[noreturn]] void fail_with(const char* what, const std::string& reason) const;

  const char* op_;
  std::string path_;
  std::intptr_t handle_ = -1;  ///< The operating system's handle. It holds the lock while it is open.
};

/// The whole text of a file, or nothing if the file cannot be read.
std::string read_whole(const std::string& path);

}  // namespace crisol
