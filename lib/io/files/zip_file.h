// Files inside a zip archive.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/files/input_file.h"

namespace crisol::io {

struct ZipEntry {
  std::string name;
  std::uint64_t header = 0;                 ///< Position of its local header in the archive.
  std::uint64_t compressed = 0, bytes = 0;  ///< The sizes in the archive and after decompression.
  std::uint32_t crc = 0;
  bool deflated = false;  ///< Otherwise stored.
};

/// An archive with its list of files. Accepts stored and deflated files below 4 GiB, as NumPy writes them. Throws for
/// everything else: encryption, other compression, archives in several parts, impossible sizes.
class ZipFile {
 public:
  ZipFile(const char* op, const std::string& path);

  const InputFile& file() const noexcept { return file_; }
  const std::vector<ZipEntry>& entries() const noexcept { return entries_; }
  /// The contents of a file. Throws if the checksum is wrong.
  std::string read(const ZipEntry& entry);

 private:
  void read_list();
  std::string inflated(const ZipEntry& entry, const std::string& compressed) const;

  InputFile file_;
  std::vector<ZipEntry> entries_;
};

}  // namespace crisol::io
