// A file for reading. Error messages name the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "base/text.h"

namespace crisol::io {

/// An open regular file. Every failure throws Error (ErrorCode::io): "[op] path: reason".
class InputFile {
 public:
  InputFile(const char* op, const std::string& path);

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail(ErrorCode::io, op_, path_, ": ", parts...);
  }

  const std::string& path() const noexcept { return path_; }
  std::uint64_t size() const noexcept { return size_; }
  /// Reads `count` bytes that start at `position`.
  void read_at(std::uint64_t position, void* bytes, std::size_t count);
  /// All bytes of the file.
  std::string read_all();
  /// The kind of the file by its first bytes, such as "a NumPy array (.npy)". Empty if the library knows no such kind.
  std::string kind();

 private:
  const char* op_;
  std::string path_;
  std::ifstream file_;
  std::uint64_t size_ = 0;
};

}  // namespace crisol::io
