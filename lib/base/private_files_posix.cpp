#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/private_files.h"

namespace crisol::system {

namespace {

const char* access_of_others(const struct stat& file) {
  if (file.st_uid != geteuid() && file.st_uid != 0) return "belongs to another user";
  const bool own_files_only = S_ISDIR(file.st_mode) && (file.st_mode & S_ISVTX) != 0;
  if ((file.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !own_files_only) return "can be written by other users";
  return nullptr;
}

}  // namespace

void make_private_folder(const std::filesystem::path& folder, std::error_code& error) {
  error.clear();
  if (folder.empty() || std::filesystem::is_directory(folder, error)) return;
  make_private_folder(folder.parent_path(), error);
  if (error) return;
  // The umask may take away rights of this user, so the rights are set again. If mkdir fails, another process may just
  // have made the folder.
  if (mkdir(folder.c_str(), S_IRWXU) == 0 ? chmod(folder.c_str(), S_IRWXU) != 0 : errno != EEXIST)
    error.assign(errno, std::generic_category());
  else if (!std::filesystem::is_directory(folder, error) && !error)
    error = std::make_error_code(std::errc::not_a_directory);
}

std::FILE* create_private_file(const std::filesystem::path& path) {
  const int handle = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (handle < 0) return nullptr;
  std::FILE* const file = fchmod(handle, S_IRUSR | S_IWUSR) == 0 ? fdopen(handle, "wb") : nullptr;
  if (file == nullptr) close(handle);
  return file;
}

const char* access_of_others(const std::filesystem::path& path) {
  struct stat found {};
  return stat(path.c_str(), &found) == 0 ? access_of_others(found) : nullptr;
}

PrivateText read_private(const std::filesystem::path& path) {
  const int handle = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (handle < 0) return {};
  PrivateText file;
  struct stat found {};
  if (fstat(handle, &found) == 0) file.fault = access_of_others(found);
  char buffer[1 << 16];
  for (ssize_t size = 0; file.fault == nullptr && (size = read(handle, buffer, sizeof buffer)) > 0;)
    file.text.append(buffer, static_cast<std::size_t>(size));
  close(handle);
  return file;
}

}  // namespace crisol::system
