// The bytes of a file, mapped into memory and read when they are needed.
#pragma once

#include <string>
#include <string_view>

namespace crisol::io {

/// A regular file, mapped for reading. Every failure throws Error (ErrorCode::io): "[op] path: reason". No other
/// program may shorten the file while it is mapped: reading a missing page ends the process.
class MappedFile {
 public:
  MappedFile(const char* op, const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const noexcept { return path_; }
  std::string_view bytes() const noexcept { return bytes_; }

  /// Whether another program may replace and remove the file while it is mapped. This object then keeps the old bytes.
  static bool may_be_replaced() noexcept;
  /// Throws Error if the bytes of the file were changed since it was mapped. If another file took its place, the bytes
  /// did not change.
  void require_unchanged(const char* op) const;

  /// Says that a part of a mapped file is not needed soon, so that its pages take no memory of this process. A later
  /// read of the part brings them back.
  static void give_back(std::string_view part) noexcept;

 private:
  /// Maps the file. Each operating system has its own implementation.
  void map(const char* op);

  std::string path_;
  std::string_view bytes_;
  std::string state_;  ///< Identifies the contents of the file: a change of the file changes this text.
};

}  // namespace crisol::io
