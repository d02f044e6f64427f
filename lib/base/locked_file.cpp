#include "base/locked_file.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "base/private_files.h"
#include "base/system.h"
#include "base/text.h"

namespace crisol {

namespace fs = std::filesystem;

LockedFile::LockedFile(const char* op, const std::string& path) : op_(op), path_(path) {
  std::error_code error;
  if (const fs::path folder = system::path_of(path).parent_path(); !folder.empty())
    system::make_private_folder(folder, error);
  if (error) fail_with("cannot be created", error.message());
  open();
}

std::string LockedFile::read() const { return read_whole(path_); }

void LockedFile::replace(std::string_view text) {
  std::random_device random;
  const fs::path temporary = system::path_of(concat(path_, '.', random(), random(), ".tmp"));
  std::error_code error;
  std::FILE* const file = system::create_private_file(temporary);
  bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file != nullptr) written = std::fclose(file) == 0 && written;
  // The new file gets the permissions of the old file: a file that its user shares with others stays shared.
  if (written) fs::permissions(temporary, fs::status(system::path_of(path_)).permissions(), error);
  if (!written || error) {
    fs::remove(temporary, error);
    fail_with("cannot be written", "the folder is full or not writable");
  }
  system::replace_file(temporary, system::path_of(path_), error);
  if (!error) return;
  std::error_code ignored;
  fs::remove(temporary, ignored);
  fail_with("cannot be written", error.message());
}

void LockedFile::fail_with(const char* what, const std::string& reason) const {
  fail(ErrorCode::io, op_, path_, ' ', what, ": ", reason);
}

std::string read_whole(const std::string& path) {
  std::ifstream file(system::path_of(path), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace crisol
