#include "runtime/program/disk_cache.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <random>
#include <sstream>
#include <tuple>

#include "base/hash.h"
#include "base/locked_file.h"
#include "base/private_files.h"
#include "base/system.h"
#include "base/text.h"
#include "runtime/program/trusted_files.h"
#include "runtime/verbose.h"

namespace crisol::runtime {

namespace fs = std::filesystem;

namespace {

// A file holds this header, then the title and the warmed names (one in each line), and then the binary.
struct Header {
  char magic[8] = {'c', 'r', 'i', 's', 'o', 'l', '0', '2'};
  std::uint64_t key_hash = 0;
  std::uint64_t text_size = 0;
  std::uint64_t binary_size = 0;
  std::uint64_t checksum = 0;
};

constexpr std::uint64_t second_seed = 0x6372697360u;

std::string_view as_text(const std::vector<unsigned char>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint64_t checksum_of(std::string_view text, std::string_view binary) { return hash_of(binary, hash_of(text)); }

/// The contents of a file. If the file has another format or is damaged, `fault` says why.
struct Contents {
  std::uint64_t key_hash = 0;
  CachedProgram program;
  const char* fault = nullptr;
};

Contents faulty(const char* fault) {
  Contents contents;
  contents.fault = fault;
  return contents;
}

Contents read_contents(std::string_view file) {
  Header header;
  if (file.size() < sizeof header) return faulty("is truncated");
  std::memcpy(&header, file.data(), sizeof header);
  file.remove_prefix(sizeof header);
  if (std::string_view(header.magic, 8) != std::string_view(Header{}.magic, 8))
    return faulty("has a wrong magic number");
  // Each size is checked by itself first, because their sum could overflow.
  if (header.text_size > file.size() || header.binary_size > file.size() ||
      header.text_size + header.binary_size != file.size())
    return faulty("has a wrong size");
  const std::string_view text = file.substr(0, header.text_size), binary = file.substr(header.text_size);
  if (checksum_of(text, binary) != header.checksum) return faulty("has a wrong checksum");
  Contents contents;
  contents.key_hash = header.key_hash;
  contents.program.binary.assign(binary.begin(), binary.end());
  std::istringstream lines{std::string(text)};
  std::getline(lines, contents.program.title);
  for (std::string line; std::getline(lines, line);) contents.program.warmed.push_back(line);
  return contents;
}

bool has_name_of_ours(const fs::path& path) {
  const std::string name = system::text_of(path.filename());
  constexpr std::size_t digits = 16;
  return name.find_first_not_of("0123456789abcdef") == digits && name.compare(digits, 4, ".bin") == 0 &&
         (name.size() == digits + 4 || path.extension() == ".tmp");
}

// A writer that was killed leaves its temporary file. No writer needs an hour, so older temporary files are removed.
void remove_abandoned(const fs::path& folder) {
  const auto limit = fs::file_time_type::clock::now() - std::chrono::hours(1);
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".tmp" && entry.last_write_time(ignored) < limit) fs::remove(entry.path(), ignored);
}

struct ChosenFolder {
  std::mutex mutex;
  std::string folder;
};

ChosenFolder& chosen_folder() {
  static ChosenFolder& one = *new ChosenFolder;  // Threads may use it while the process ends.
  return one;
}

}  // namespace

std::string DiskCache::default_folder() {
  {
    const std::lock_guard lock(chosen_folder().mutex);
    if (!chosen_folder().folder.empty()) return chosen_folder().folder;
  }
  if (const std::string chosen = environment("CRISOL_CACHE_DIR"); !chosen.empty()) return chosen;
  return system::cache_folder();
}

std::string DiskCache::path_of(std::string_view key) const {
  char name[32];
  std::snprintf(name, sizeof name, "%016llx.bin", static_cast<unsigned long long>(hash_of(key)));
  return folder_ + '/' + name;
}

std::optional<CachedProgram> DiskCache::load(std::string_view key) const {
  if (folder_.empty()) return std::nullopt;
  const std::string file = read_trusted(path_of(key));
  if (file.empty()) return std::nullopt;
  Contents contents = read_contents(file);
  if (contents.fault == nullptr && contents.key_hash != hash_of(key, second_seed))
    contents.fault = "belongs to another program";
  if (contents.fault == nullptr) return std::move(contents.program);
  log(Topic::build, "cache: ", path_of(key), ' ', contents.fault, "; compiling from source");
  return std::nullopt;
}

std::vector<CacheEntry> DiskCache::entries() const {
  std::vector<CacheEntry> entries;
  std::error_code ignored;
  for (const fs::directory_entry& found : fs::directory_iterator(system::path_of(folder_), ignored)) {
    if (!has_name_of_ours(found.path()) || found.path().extension() == ".tmp") continue;
    const std::string path = system::text_of(found.path()), file = read_whole(path);
    entries.push_back({path, read_contents(file).program.title, file.size()});
  }
  std::sort(entries.begin(), entries.end(), [](const CacheEntry& a, const CacheEntry& b) {
    return std::tie(a.title, a.file) < std::tie(b.title, b.file);
  });
  return entries;
}

std::int64_t DiskCache::clear() const {
  std::error_code ignored;
  std::vector<fs::path> ours;
  for (const fs::directory_entry& found : fs::directory_iterator(system::path_of(folder_), ignored))
    if (has_name_of_ours(found.path())) ours.push_back(found.path());
  for (const fs::path& path : ours) {
    std::error_code error;
    fs::remove(path, error);
    if (error) fail(ErrorCode::io, "cache", "cannot remove ", system::text_of(path), ": ", error.message());
  }
  return static_cast<std::int64_t>(ours.size());
}

bool DiskCache::store(std::string_view key, const CachedProgram& program) const {
  if (folder_.empty()) return false;
  std::error_code error;
  system::make_private_folder(system::path_of(folder_), error);
  const fs::path path = system::path_of(path_of(key));
  const auto give_up = [&](const char* why) {
    log(Topic::build, "cache: cannot store ", system::text_of(path), ": ", why);
    return false;
  };
  if (error) return give_up(error.message().c_str());
  if (!is_trusted_folder(folder_)) return false;
  remove_abandoned(system::path_of(folder_));

  std::string text = program.title + '\n';
  for (const std::string& name : program.warmed) text += name + '\n';
  Header header;
  header.key_hash = hash_of(key, second_seed);
  header.text_size = text.size();
  header.binary_size = program.binary.size();
  header.checksum = checksum_of(text, as_text(program.binary));

  std::random_device random;  // Two processes may store the same program at once.
  const fs::path temporary = system::path_of(concat(system::text_of(path), '.', random(), random(), ".tmp"));
  {
    std::FILE* const file = system::create_private_file(temporary);
    if (file == nullptr) return give_up("the folder is not writable");
    bool written = std::fwrite(&header, sizeof header, 1, file) == 1;
    written = std::fwrite(text.data(), 1, text.size(), file) == text.size() && written;
    written = std::fwrite(program.binary.data(), 1, program.binary.size(), file) == program.binary.size() && written;
    if (std::fclose(file) != 0 || !written) {
      fs::remove(temporary, error);
      return give_up("the folder is full or not writable");
    }
  }
  system::replace_file(temporary, path, error);
  if (!error) return true;
  give_up(error.message().c_str());
  fs::remove(temporary, error);
  return false;
}

}  // namespace crisol::runtime

namespace crisol {

namespace {

runtime::DiskCache cache() { return runtime::DiskCache(runtime::DiskCache::default_folder()); }

}  // namespace

std::string kernel_cache_folder() { return runtime::DiskCache::default_folder(); }

void set_kernel_cache_folder(const std::string& folder) {
  const std::lock_guard lock(runtime::chosen_folder().mutex);
  runtime::chosen_folder().folder = folder;
}
std::vector<CacheEntry> kernel_cache_entries() { return cache().entries(); }
std::int64_t clear_kernel_cache() { return cache().clear(); }
std::string kernel_cache_fault() {
  const std::string folder = kernel_cache_folder();
  return folder.empty() ? folder : runtime::distrust_of(folder);
}

}  // namespace crisol
