#include "base/locked_file.h"
#include "base/private_files.h"
#include "base/system.h"

namespace crisol::system {

void make_private_folder(const std::filesystem::path& folder, std::error_code& error) {
  std::filesystem::create_directories(folder, error);
}

std::FILE* create_private_file(const std::filesystem::path& path) { return create_file(path); }

const char* access_of_others(const std::filesystem::path& /*path*/) { return nullptr; }

PrivateText read_private(const std::filesystem::path& path) { return {read_whole(text_of(path)), nullptr}; }

}  // namespace crisol::system
