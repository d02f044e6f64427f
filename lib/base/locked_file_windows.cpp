#include <windows.h>

#include "base/locked_file.h"
#include "base/system.h"

namespace crisol {

namespace {

std::string last_error() { return std::system_category().message(static_cast<int>(GetLastError())); }

HANDLE open_file(const std::filesystem::path& path) {
  return CreateFileW(path.c_str(), GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr,
                     OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr);
}

}  // namespace

// Windows cannot replace an open file. So the lock belongs to a second file, which stays.
void LockedFile::open() {
  const HANDLE lock = open_file(system::path_of(path_ + ".lock"));
  if (lock == INVALID_HANDLE_VALUE) fail_with("cannot be opened for writing", last_error());
  OVERLAPPED from_the_first_byte{};
  if (LockFileEx(lock, LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, &from_the_first_byte) == 0) {
    const std::string reason = last_error();
    CloseHandle(lock);
    fail_with("cannot be locked", reason);
  }
  const HANDLE file = open_file(system::path_of(path_));
  if (file == INVALID_HANDLE_VALUE) {
    const std::string reason = last_error();
    CloseHandle(lock);
    fail_with("cannot be opened for writing", reason);
  }
  CloseHandle(file);
  handle_ = reinterpret_cast<std::intptr_t>(lock);
}

LockedFile::~LockedFile() { CloseHandle(reinterpret_cast<HANDLE>(handle_)); }

}  // namespace crisol
