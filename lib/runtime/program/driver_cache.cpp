#include "runtime/program/driver_cache.h"

#include <filesystem>

#include "base/system.h"
#include "runtime/verbose.h"

namespace crisol::runtime {

namespace {

namespace fs = std::filesystem;

// PoCL's own cache folder, chosen as PoCL chooses it on POSIX systems. Empty if it is not known.
fs::path pocl_folder() {
  if (const std::string own = environment("POCL_CACHE_DIR"); !own.empty()) return system::path_of(own);
  if (const std::string caches = environment("XDG_CACHE_HOME"); !caches.empty())
    return system::path_of(caches) / "pocl" / "kcache";
  if (const std::string home = environment("HOME"); !home.empty())
    return system::path_of(home) / ".cache" / "pocl" / "kcache";
  return {};
}

// PoCL makes its folder when it starts. Each program is in a folder of its own, below a folder whose name has two
// letters.
bool holds_programs(const fs::path& folder) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (entry.path().filename().native().size() == 2 && !fs::is_empty(entry.path(), error) && !error) return true;
  return false;
}

}  // namespace

bool is_pocl(const DeviceInfo& info) { return info.platform == "Portable Computing Language"; }

bool driver_keeps_programs(const DeviceInfo& info) {
  static const bool switched_off = environment("POCL_KERNEL_CACHE") == "0";
  return is_pocl(info) && !switched_off;
}

bool driver_kept_programs() {
  static const bool kept = [] {
    const fs::path folder = pocl_folder();
    return folder.empty() || holds_programs(folder);
  }();
  return kept;
}

}  // namespace crisol::runtime
