#include "io/files/zip_file.h"

#include <zlib.h>

#include <algorithm>
#include <memory>

namespace crisol::io {

namespace {

// Sizes of the records of the format (https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT) without their names.
constexpr std::size_t local_size = 30, entry_size = 46, end_size = 22;
constexpr std::uint64_t longest_comment = 65535;
constexpr std::uint64_t largest_expansion = 1032;  // DEFLATE encodes at most 258 bytes in 2 bits.
constexpr std::uint64_t in_zip64 = 0xffffffff;     // This value means that a ZIP64 record holds the number.

std::uint64_t number(std::string_view bytes, std::size_t position, int size) {
  std::uint64_t value = 0;
  for (int i = size; i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[position + static_cast<std::size_t>(i)]);
  return value;
}

std::string shortened(const std::string& name) { return '"' + name.substr(0, 80) + '"'; }

}  // namespace

ZipFile::ZipFile(const char* op, const std::string& path) : file_(op, path) {
  const std::string kind = file_.kind();
  if (kind.find("zip") == kind.npos && file_.size() != end_size)  // An archive without files has only the end record.
    file_.refuse(kind.empty() ? "no zip archive" : "this is " + kind + ", not a zip archive");
  read_list();
}

void ZipFile::read_list() {
  const std::uint64_t tail_size = std::min(file_.size(), end_size + longest_comment);
  const std::uint64_t tail_begin = file_.size() - tail_size;
  std::string tail(static_cast<std::size_t>(tail_size), '\0');
  file_.read_at(tail_begin, tail.data(), tail.size());
  // The end record comes before a comment, and holds the comment's length.
  std::size_t end = tail.rfind("PK\x05\x06");
  while (end != tail.npos &&
         (end + end_size > tail.size() || end + end_size + number(tail, end + 20, 2) != tail.size()))
    end = end == 0 ? tail.npos : tail.rfind("PK\x05\x06", end - 1);
  if (end == tail.npos) file_.refuse("truncated or damaged: the list of the archive's files is missing");
  if (number(tail, end + 4, 2) != 0 || number(tail, end + 6, 2) != 0) file_.refuse("an archive in several parts");
  const std::uint64_t count = number(tail, end + 10, 2), size = number(tail, end + 12, 4),
                      begin = number(tail, end + 16, 4);
  if (count == 0xffff || size == in_zip64 || begin == in_zip64) file_.refuse("archives above 4 GiB are not read");
  if (begin + size > tail_begin + end) file_.refuse("damaged: the list of files is behind its end");
  std::string list(static_cast<std::size_t>(size), '\0');
  file_.read_at(begin, list.data(), list.size());
  std::uint64_t compressed = 0;
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (list.size() - at < entry_size || list.compare(at, 4, "PK\x01\x02") != 0)
      file_.refuse("damaged: entry ", i, " of ", count, " in the list of files");
    ZipEntry entry;
    const std::uint64_t flags = number(list, at + 8, 2), method = number(list, at + 10, 2);
    const std::size_t name_size = number(list, at + 28, 2);
    const std::size_t next = at + entry_size + name_size + number(list, at + 30, 2) + number(list, at + 32, 2);
    if (next > list.size()) file_.refuse("damaged: entry ", i, " of ", count, " in the list of files");
    entry.name = list.substr(at + entry_size, name_size);
    entry.crc = static_cast<std::uint32_t>(number(list, at + 16, 4));
    entry.compressed = number(list, at + 20, 4);
    entry.bytes = number(list, at + 24, 4);
    entry.header = number(list, at + 42, 4);
    entry.deflated = method == 8;
    if ((flags & 1) != 0) file_.refuse(shortened(entry.name), " is encrypted");
    if (method != 0 && method != 8)
      file_.refuse(shortened(entry.name), " is compressed by method ", method, "; stored and deflated are read");
    if (entry.compressed == in_zip64 || entry.bytes == in_zip64 || entry.header == in_zip64)
      file_.refuse("archives above 4 GiB are not read");
    // Entries that share their bytes could promise far more than the archive holds. So the sizes are added up.
    compressed += entry.compressed;
    if (compressed > file_.size() || (!entry.deflated && entry.bytes != entry.compressed) ||
        entry.bytes > largest_expansion * entry.compressed)
      file_.refuse(shortened(entry.name), ": ", entry.bytes, " bytes cannot come from ", entry.compressed,
                   " in an archive of ", file_.size());
    entries_.push_back(std::move(entry));
    at = next;
  }
  if (at != list.size()) file_.refuse("damaged: the list of files is longer than its ", count, " entries");
}

std::string ZipFile::read(const ZipEntry& entry) {
  std::string header(local_size, '\0');
  if (entry.header + local_size > file_.size()) file_.refuse(shortened(entry.name), " begins behind the end");
  file_.read_at(entry.header, header.data(), header.size());
  const std::uint64_t begin = entry.header + local_size + number(header, 26, 2) + number(header, 28, 2);
  if (!header.starts_with("PK\x03\x04") || begin + entry.compressed > file_.size())
    file_.refuse("damaged: no file ", shortened(entry.name), " where the list says");
  std::string bytes(static_cast<std::size_t>(entry.compressed), '\0');
  file_.read_at(begin, bytes.data(), bytes.size());
  if (entry.deflated) bytes = inflated(entry, bytes);
  if (crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) != entry.crc)
    file_.refuse(shortened(entry.name), " is damaged: its checksum differs");
  return bytes;
}

std::string ZipFile::inflated(const ZipEntry& entry, const std::string& compressed) const {
  // The size of a step. A false size in the file then causes no large allocation.
  constexpr std::size_t step = 1 << 20;
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) file_.refuse("zlib has no memory");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> owner(&stream, inflateEnd);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
  stream.avail_in = static_cast<uInt>(compressed.size());
  std::string bytes;
  int status = Z_OK;
  while (status == Z_OK) {
    const std::size_t begin = bytes.size();
    bytes.resize(begin + std::min<std::size_t>(step, static_cast<std::size_t>(entry.bytes) - begin + 1));
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data() + begin);
    stream.avail_out = static_cast<uInt>(bytes.size() - begin);
    status = inflate(&stream, Z_NO_FLUSH);
    bytes.resize(bytes.size() - stream.avail_out);
    if (bytes.size() > entry.bytes) break;
  }
  if (status != Z_STREAM_END || bytes.size() != entry.bytes)
    file_.refuse(shortened(entry.name), " is damaged: ", entry.bytes, " bytes expected after decompression, ",
                 bytes.size(), " found");
  return bytes;
}

}  // namespace crisol::io
