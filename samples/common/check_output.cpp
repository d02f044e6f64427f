#include "common/check_output.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "common/system.h"

namespace samples {

void check_output(const std::string& path, bool replaced_by_rename) {
  if (path.empty()) return;
  const auto refuse = [&](const char* why) { throw std::runtime_error("cannot write " + path + ": " + why); };
  const bool exists = std::filesystem::exists(path);
  if (std::filesystem::is_directory(path)) refuse("it is a folder");
  if (exists && !may_write(path)) refuse(std::strerror(errno));
  if (exists && !replaced_by_rename) return;
  const std::string probe = path + ".probe";
  if (!std::ofstream(probe)) refuse(std::strerror(errno));
  std::filesystem::remove(probe);
}

}  // namespace samples
