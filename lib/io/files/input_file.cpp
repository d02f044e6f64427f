#include "io/files/input_file.h"

#include <algorithm>
#include <filesystem>

#include "base/system.h"

namespace crisol::io {

namespace {

using namespace std::string_view_literals;

struct Kind {
  std::string_view start, name;
};

constexpr Kind kinds[]{
    {"\x93NUMPY"sv, "a NumPy array (.npy)"},
    {"PK\x03\x04"sv, "a zip archive, such as NumPy's .npz or PyTorch's .pt"},
    {"\x80\x02"sv, "a Python pickle, such as PyTorch's old .pt"},
    {"\x80\x03"sv, "a Python pickle"},
    {"\x80\x04"sv, "a Python pickle"},
    {"\x80\x05"sv, "a Python pickle"},
    {"\x89HDF\r\n\x1a\n"sv, "an HDF5 file"},
    {"GGUF"sv, "a GGUF file"},
    {"\x1f\x8b"sv, "a gzip file"},
    {"\x89PNG"sv, "a PNG image"},
    {"\xff\xd8\xff"sv, "a JPEG image"},
};

}  // namespace

InputFile::InputFile(const char* op, const std::string& path) : op_(op), path_(path) {
  std::error_code error;
  const std::filesystem::path name = system::path_of(path);
  const auto status = std::filesystem::status(name, error);
  if (!std::filesystem::exists(status)) refuse("no such file");
  if (!std::filesystem::is_regular_file(status)) refuse("not a regular file");
  file_.open(name, std::ios::binary | std::ios::ate);
  if (!file_) refuse("cannot be opened");
  const std::streamoff end = file_.tellg();
  if (end < 0) refuse("its size is unknown");
  size_ = static_cast<std::uint64_t>(end);
}

void InputFile::read_at(std::uint64_t position, void* bytes, std::size_t count) {
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(position));
  if (!file_.read(static_cast<char*>(bytes), static_cast<std::streamsize>(count)))
    refuse("cannot be read: ", count, " bytes expected, ", file_.gcount(), " found");
}

std::string InputFile::read_all() {
  std::string bytes(static_cast<std::size_t>(size_), '\0');
  read_at(0, bytes.data(), bytes.size());
  return bytes;
}

std::string InputFile::kind() {
  std::string start(static_cast<std::size_t>(std::min<std::uint64_t>(size_, 8)), '\0');
  read_at(0, start.data(), start.size());
  for (const Kind& kind : kinds)
    if (std::string_view(start).starts_with(kind.start)) return std::string(kind.name);
  return {};
}

}  // namespace crisol::io
