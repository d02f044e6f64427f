#include <filesystem>
#include <fstream>
#include <random>

#include "base/text.h"
#include "cli/doctor/platform.h"
#include "crisol/kernel_cache.h"
#include "crisol/tuning.h"
#include "crisol/verification.h"

namespace crisol::cli::doctor {

namespace fs = std::filesystem;

namespace {

// Less room than this is soon used up: a program takes some 100 KB.
constexpr std::uintmax_t min_room = 16 << 20;

std::string permissions_text(fs::perms permissions) {
  std::string text;
  for (unsigned bit = 0400, i = 0; bit != 0; bit >>= 1, ++i)
    text += (static_cast<unsigned>(permissions) & bit) != 0 ? "rwx"[i % 3] : '-';
  return text;
}

/// The folder, or the nearest of its parents that is there.
fs::path nearest_existing(fs::path folder) {
  std::error_code error;
  while (!fs::exists(folder, error) && folder.has_parent_path() && folder != folder.parent_path())
    folder = folder.parent_path();
  return folder;
}

/// Why no file can be made in a folder; empty where one can.
std::string why_not_writable(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return folder.string() + " is no folder";
  std::random_device random;
  const fs::path probe = folder / concat(".crisol-doctor-", random(), random());
  std::ofstream file(probe, std::ios::binary);
  const bool made = file.is_open();
  file << std::string(4096, 'x');
  file.close();
  fs::remove(probe, error);
  if (!made) return "no file can be made in " + folder.string();
  return file ? "" : folder.string() + " takes no more data: the disk is full";
}

Json file_facts(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  Json facts{{"path", path.string()}, {"exists", fs::exists(status)}};
  if (!fs::exists(status)) return facts;
  facts["permissions"] = permissions_text(status.permissions());
  facts["owner"] = owner_of(path);
  if (fs::is_regular_file(status)) facts["bytes"] = fs::file_size(path, error);
  return facts;
}

void count_programs(Json& facts, Problems& problems) {
  std::uint64_t bytes = 0;
  int programs = 0, probes = 0, damaged = 0;
  for (const CacheEntry& entry : kernel_cache_entries()) {
    bytes += entry.bytes;
    if (entry.title.empty())
      ++damaged;
    else if (entry.title.starts_with("probe of "))
      ++probes;
    else
      ++programs;
  }
  facts.update({{"programs", programs}, {"probes", probes}, {"damaged", damaged}, {"bytes", bytes}});
  if (damaged > 0)
    problems.push_back({concat("damaged files in ", facts.at("path").get<std::string>(), ": ", damaged),
                        "the library never uses them; `crisol cache clear` removes them"});
}

Json program_facts(Problems& problems) {
  const std::string folder = kernel_cache_folder();
  if (folder.empty()) {
    problems.push_back({concat("compiled programs are not stored: ", words.cache_variables, " are not set"),
                        "set CRISOL_CACHE_DIR to a folder, or every run compiles its kernels again"});
    return {{"path", nullptr}};
  }
  Json facts = file_facts(folder);
  const std::string distrust = kernel_cache_fault();
  facts["used"] = distrust.empty();
  if (!distrust.empty())
    problems.push_back({concat("other users can change compiled programs, so none are stored or loaded: ", folder),
                        concat("chmod go-w ", folder,
                               ", or chown it to this user, or set CRISOL_CACHE_DIR to a folder "
                               "of your own")});
  // The first program that is stored makes the folder, so its parent must take it.
  const fs::path existing = nearest_existing(folder);
  const std::string fault = why_not_writable(existing);
  facts["writable"] = fault.empty();
  std::error_code error;
  const fs::space_info space = fs::space(existing, error);
  if (!error) facts["free_bytes"] = space.available;
  count_programs(facts, problems);
  if (!fault.empty())
    problems.push_back({concat("compiled programs cannot be stored: ", fault),
                        "make that folder writable for this user, or set CRISOL_CACHE_DIR to another one; until then "
                        "every run compiles its kernels again"});
  else if (!error && space.available < min_room)
    problems.push_back({concat(space.available, " bytes are free for compiled programs in ", folder),
                        "make room on that disk, or set CRISOL_CACHE_DIR to a folder on another one"});
  return facts;
}

Json tuning_facts() {
  const std::string file = tuning_file();
  if (file.empty()) return {{"path", nullptr}};
  Json facts = file_facts(file);
  facts["entries"] = tuning_entries().size();
  return facts;
}

Json verified_facts() {
  const std::string file = verification_file();
  if (file.empty()) return {{"path", nullptr}};
  return file_facts(file);
}

}  // namespace

Json folder_facts(Problems& problems) {
  return {{"programs", program_facts(problems)}, {"tuning", tuning_facts()}, {"verified", verified_facts()}};
}

}  // namespace crisol::cli::doctor
