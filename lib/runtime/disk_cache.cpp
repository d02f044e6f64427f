#include "runtime/disk_cache.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>

#include "runtime/hash.h"
#include "runtime/verbose.h"

namespace crisol::runtime {

namespace fs = std::filesystem;

namespace {

// File: this header, the warmed names separated by line ends, the binary.
struct Header {
  char magic[8] = {'c', 'r', 'i', 's', 'o', 'l', '0', '1'};
  std::uint64_t key_hash = 0;
  std::uint64_t warmed_size = 0;
  std::uint64_t binary_size = 0;
  std::uint64_t checksum = 0;
};

constexpr std::uint64_t second_seed = 0x6372697360u;

std::string_view as_text(const std::vector<unsigned char>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint64_t checksum_of(std::string_view warmed, std::string_view binary) { return hash_of(binary, hash_of(warmed)); }

// A writer that was killed leaves its temporary file behind; no writer takes an hour.
void remove_abandoned(const fs::path& folder) {
  const auto limit = fs::file_time_type::clock::now() - std::chrono::hours(1);
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".tmp" && entry.last_write_time(ignored) < limit) fs::remove(entry.path(), ignored);
}

}  // namespace

std::string DiskCache::default_folder() {
  if (const std::string chosen = environment("CRISOL_CACHE_DIR"); !chosen.empty()) return chosen;
  if (const std::string xdg = environment("XDG_CACHE_HOME"); !xdg.empty()) return xdg + "/crisol";
  if (const std::string home = environment("HOME"); !home.empty()) return home + "/.cache/crisol";
  return {};
}

std::string DiskCache::path_of(std::string_view key) const {
  char name[32];
  std::snprintf(name, sizeof name, "%016llx.bin", static_cast<unsigned long long>(hash_of(key)));
  return folder_ + '/' + name;
}

std::optional<CachedProgram> DiskCache::load(std::string_view key) const {
  if (folder_.empty()) return std::nullopt;
  const std::string path = path_of(key);
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  const auto damaged = [&](const char* why) {
    say(Topic::build, "cache: ", path, ' ', why, "; compiling from source");
    return std::nullopt;
  };
  Header header;
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return damaged("is truncated");
  if (std::string_view(header.magic, 8) != std::string_view(Header{}.magic, 8))
    return damaged("has a wrong magic number");
  if (header.key_hash != hash_of(key, second_seed)) return damaged("belongs to another program");
  std::error_code error;
  const std::uint64_t size = fs::file_size(path, error);
  // Each size alone first: their sum could wrap round.
  if (error || header.warmed_size > size || header.binary_size > size ||
      sizeof header + header.warmed_size + header.binary_size != size)
    return damaged("has a wrong size");
  std::string warmed(header.warmed_size, '\0');
  CachedProgram program;
  program.binary.resize(header.binary_size);
  if (!file.read(warmed.data(), static_cast<std::streamsize>(warmed.size())) ||
      !file.read(reinterpret_cast<char*>(program.binary.data()), static_cast<std::streamsize>(program.binary.size())))
    return damaged("cannot be read");
  if (checksum_of(warmed, as_text(program.binary)) != header.checksum) return damaged("has a wrong checksum");
  std::istringstream lines(warmed);
  for (std::string line; std::getline(lines, line);) program.warmed.push_back(line);
  return program;
}

void DiskCache::store(std::string_view key, const CachedProgram& program) const {
  if (folder_.empty()) return;
  std::error_code error;
  fs::create_directories(folder_, error);
  const fs::path path = path_of(key);
  const auto give_up = [&](const char* why) { say(Topic::build, "cache: cannot store ", path.string(), ": ", why); };
  if (error) return give_up(error.message().c_str());
  remove_abandoned(folder_);

  std::string warmed;
  for (const std::string& name : program.warmed) warmed += name + '\n';
  Header header;
  header.key_hash = hash_of(key, second_seed);
  header.warmed_size = warmed.size();
  header.binary_size = program.binary.size();
  header.checksum = checksum_of(warmed, as_text(program.binary));

  std::random_device random;  // Two processes may store the same program at once.
  const fs::path temporary = concat(path.string(), '.', random(), random(), ".tmp");
  {
    std::ofstream file(temporary, std::ios::binary);
    file.write(reinterpret_cast<const char*>(&header), sizeof header);
    file.write(warmed.data(), static_cast<std::streamsize>(warmed.size()));
    file.write(reinterpret_cast<const char*>(program.binary.data()),
               static_cast<std::streamsize>(program.binary.size()));
    file.close();
    if (!file) {
      fs::remove(temporary, error);
      return give_up("the folder is full or not writable");
    }
  }
  fs::rename(temporary, path, error);
  if (error) {
    give_up(error.message().c_str());
    fs::remove(temporary, error);
  }
}

}  // namespace crisol::runtime
