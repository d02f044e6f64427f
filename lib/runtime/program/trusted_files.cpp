#include "runtime/program/trusted_files.h"

#include <mutex>
#include <set>

#include "base/private_files.h"
#include "base/system.h"
#include "base/text.h"
#include "runtime/verbose.h"

namespace crisol::runtime {

namespace {

std::string distrust_text(const std::string& path, const char* fault) {
  return concat(path, " is not used: it ", fault,
                ", and this process would run what it holds. Remedy: make it yours alone (chmod go-w, chown), remove "
                "it, or set CRISOL_CACHE_DIR to a folder of your own");
}

void log_once(const std::string& folder, const std::string& text) {
  static std::mutex mutex;
  static auto& said = *new std::set<std::string>;  // Never destroyed, because threads may outlive static objects.
  const std::lock_guard lock(mutex);
  if (said.insert(folder).second) log_line("cache: " + text);
}

std::string folder_of(const std::string& path) { return system::text_of(system::path_of(path).parent_path()); }

}  // namespace

std::string distrust_of(const std::string& path) {
  const char* const fault = system::access_of_others(system::path_of(path));
  return fault == nullptr ? std::string() : distrust_text(path, fault);
}

bool is_trusted_folder(const std::string& folder) {
  const std::string text = distrust_of(folder);
  if (!text.empty()) log_once(folder, text);
  return text.empty();
}

std::string read_trusted(const std::string& path) {
  if (!is_trusted_folder(folder_of(path))) return {};
  // Examines the open file, not its name, because another user might exchange files in between.
  system::PrivateText file = system::read_private(system::path_of(path));
  if (file.fault != nullptr) log_once(folder_of(path), distrust_text(path, file.fault));
  return std::move(file.text);
}

void require_trusted(const char* op, const std::string& path) {
  for (const std::string& each : {folder_of(path), path})
    if (const std::string text = distrust_of(each); !text.empty()) fail(ErrorCode::io, op, text);
}

}  // namespace crisol::runtime
