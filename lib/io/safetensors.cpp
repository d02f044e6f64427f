#include "crisol/io/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "base/text.h"
#include "io/files/atomic_file.h"
#include "io/files/input_file.h"
#include "io/safetensors_header.h"

namespace crisol::io {
namespace {

constexpr std::uint64_t length_bytes = 8;
static_assert(std::endian::native == std::endian::little, "the format's data is little-endian");

/// An open file with a checked header. The data is read from the same open file, even if another file gets its name
/// meanwhile.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path) : file_("safetensors", path) {
    const std::uint64_t size = file_.size();
    if (size < length_bytes) file_.refuse("truncated: ", size, " bytes, at least ", length_bytes, " expected");
    const std::uint64_t header_bytes = read_length();
    if (header_bytes > std::min(largest_safetensors_header, size - length_bytes)) throw_other_kind();
    if (header_bytes > largest_safetensors_header)
      file_.refuse("a header of ", header_bytes, " bytes, at most ", largest_safetensors_header, " allowed");
    if (header_bytes > size - length_bytes)
      file_.refuse("truncated: a header of ", header_bytes, " bytes, ", size - length_bytes, " left in the file");
    std::string text(static_cast<std::size_t>(header_bytes), '\0');
    file_.read_at(length_bytes, text.data(), text.size());
    if (!text.starts_with('{')) throw_other_kind();
    header_ = parse_header(text, size - length_bytes - header_bytes, path);
    header_.data_begin = length_bytes + header_bytes;
  }

  const SafetensorsHeader& header() const noexcept { return header_; }

  std::vector<std::uint8_t> bytes_of(const SafetensorsEntry& entry) {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(entry.end - entry.begin));
    file_.read_at(header_.data_begin + entry.begin, bytes.data(), bytes.size());
    if (entry.dtype == DType::boolean)
      for (std::size_t i = 0; i < bytes.size(); ++i)
        if (bytes[i] > 1)
          file_.refuse("tensor \"", entry.name, "\" is BOOL and holds ", static_cast<int>(bytes[i]), " at element ", i,
                       ", only 0 and 1 allowed");
    return bytes;
  }

 private:
  // Throws for a file of another kind. Without this check the message would speak of an absurd header.
  void throw_other_kind() {
    if (const std::string kind = file_.kind(); !kind.empty())
      file_.refuse("this is ", kind, ", not a safetensors file: the Python package safetensors converts it");
  }

  std::uint64_t read_length() {
    std::array<unsigned char, length_bytes> bytes;
    file_.read_at(0, bytes.data(), bytes.size());
    std::uint64_t length = 0;
    for (std::size_t i = length_bytes; i-- > 0;) length = length << 8 | bytes[i];
    return length;
  }

  InputFile file_;
  SafetensorsHeader header_;
};

}  // namespace

SafetensorsHeader parse_safetensors(const std::string& path) { return SafetensorsFile(path).header(); }

NamedTensors load_safetensors(const std::string& path, Device device, Metadata* metadata) {
  SafetensorsFile file(path);
  NamedTensors tensors;
  for (const SafetensorsEntry& entry : file.header().entries)
    tensors.emplace_back(entry.name, from_bytes(file.bytes_of(entry).data(), entry.shape, entry.dtype, device));
  if (metadata != nullptr) *metadata = file.header().metadata;
  return tensors;
}

void save_safetensors(const std::string& path, const NamedTensors& tensors, const Metadata& metadata) {
  std::vector<SafetensorsEntry> entries;
  for (const auto& [name, tensor] : tensors) {
    require(tensor.defined(), "save_safetensors", "tensor \"", name, "\" is undefined");
    entries.push_back({name, tensor.dtype(), tensor.shape(), 0, 0});
  }
  assign_ranges(entries);
  const std::string header = format_header(entries, metadata);
  std::array<unsigned char, length_bytes> length;
  for (std::size_t i = 0; i < length_bytes; ++i) length[i] = static_cast<unsigned char>(header.size() >> (8 * i));

  // The entries in the order of their ranges, which can differ from their order in the header.
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return entries[a].begin < entries[b].begin; });
  AtomicFile file("save_safetensors", path);
  file.write(length.data(), length.size());
  file.write(header.data(), header.size());
  std::vector<std::uint8_t> bytes;
  for (const std::size_t i : order) {
    bytes.resize(static_cast<std::size_t>(entries[i].end - entries[i].begin));
    if (!bytes.empty()) tensors[i].second.read_bytes(bytes.data());
    file.write(bytes.data(), bytes.size());
  }
  file.commit();
}

}  // namespace crisol::io
