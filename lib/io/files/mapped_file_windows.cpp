#include <windows.h>

#include "base/system.h"
#include "base/text.h"
#include "io/files/mapped_file.h"

namespace crisol::io {

void MappedFile::map(const char* op) {
  const auto refuse = [&](const char* what) {
    fail(ErrorCode::io, op, path_, ": cannot be ", what, ": error ", GetLastError(), " of Windows");
  };
  const HANDLE file = CreateFileW(system::path_of(path_).c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE,
                                  nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE) refuse("opened");
  LARGE_INTEGER size{};
  const bool has_size = GetFileSizeEx(file, &size) != 0;
  // Windows cannot map an empty file.
  const bool is_empty = has_size && size.QuadPart == 0;
  const HANDLE mapping =
      has_size && !is_empty ? CreateFileMappingW(file, nullptr, PAGE_READONLY, 0, 0, nullptr) : nullptr;
  const void* memory = mapping != nullptr ? MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0) : nullptr;
  // The view keeps the file and the mapping open.
  if (mapping != nullptr) CloseHandle(mapping);
  CloseHandle(file);
  if (memory == nullptr && !is_empty) refuse("mapped");
  bytes_ = {static_cast<const char*>(memory), static_cast<std::size_t>(size.QuadPart)};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) UnmapViewOfFile(bytes_.data());
}

// Windows refuses to write to a mapped file.
bool MappedFile::may_be_replaced() noexcept { return false; }

void MappedFile::require_unchanged(const char* /*op*/) const {}

// Windows takes pages from a process by itself when memory is short.
void MappedFile::give_back(std::string_view /*part*/) noexcept {}

}  // namespace crisol::io
