// File names, files and variables are the same on every operating system.
#include "base/system.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/locked_file.h"
#include "crisol/crisol.h"
#include "dispatch/stored/tuning.h"
#include "doctest/doctest.h"
#include "io/files/atomic_file.h"
#include "runtime/program/disk_cache.h"
#include "support/files.h"
#include "support/processes/subprocess.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

namespace fs = std::filesystem;

// Characters of two, three and four UTF-8 bytes. The old code pages of Windows do not contain all of them.
const std::string name = "数 größe 🐌";

}  // namespace

TEST_CASE("system: paths and variables are UTF-8") {
  CHECK(system::text_of(system::path_of(name)) == name);
  CHECK(system::path_of(name).u8string() == u8"数 größe 🐌");
  CHECK(system::environment("CRISOL_TEST_NOT_SET").empty());
  set_variable("CRISOL_TEST_TEXT", name);
  CHECK(system::environment("CRISOL_TEST_TEXT") == name);
  set_variable("CRISOL_TEST_TEXT", "");
  CHECK(system::environment("CRISOL_TEST_TEXT").empty());
}

TEST_CASE("system: the folder of the cache comes from the environment") {
#ifdef _WIN32
  const std::string before = system::environment("LOCALAPPDATA");
  set_variable("LOCALAPPDATA", "C:\\Users\\" + name);
  CHECK(system::cache_folder() == "C:\\Users\\" + name + "\\crisol");
  set_variable("LOCALAPPDATA", "");
  CHECK(system::cache_folder().empty());
  set_variable("LOCALAPPDATA", before);
#else
  const std::string xdg = system::environment("XDG_CACHE_HOME"), home = system::environment("HOME");
  set_variable("XDG_CACHE_HOME", "/x");
  CHECK(system::cache_folder() == "/x/crisol");
  set_variable("XDG_CACHE_HOME", "");
  set_variable("HOME", "/home/" + name);
  CHECK(system::cache_folder() == "/home/" + name + "/.cache/crisol");
  set_variable("HOME", "");
  CHECK(system::cache_folder().empty());
  set_variable("XDG_CACHE_HOME", xdg);
  set_variable("HOME", home);
#endif
}

TEST_CASE("system: a new file is made only where there is none, and its bytes stay as they are") {
  const TemporaryFolder folder;
  const fs::path path = system::path_of(folder.path() + '/' + name);
  std::FILE* file = system::create_file(path);
  REQUIRE(file != nullptr);
  CHECK(system::create_file(path) == nullptr);
  CHECK(std::fputs("a\nb\r\n\x1a z", file) >= 0);
  CHECK(system::flush_to_disk(file));
  std::fclose(file);
  CHECK(read_file(folder.path() + '/' + name) == "a\nb\r\n\x1a z");
}

TEST_CASE("system: a file that another program reads is replaced") {
  const TemporaryFolder folder;
  const std::string old_path = folder.path() + "/old", new_path = folder.path() + "/new";
  write_file(old_path, "old");
  write_file(new_path, "new");
  std::ifstream reader(system::path_of(old_path), std::ios::binary);
  std::thread closer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    reader.close();
  });
  std::error_code error;
  system::replace_file(system::path_of(new_path), system::path_of(old_path), error);
  closer.join();
  CHECK_MESSAGE(!error, error.message());
  CHECK(read_file(old_path) == "new");
  CHECK_FALSE(fs::exists(new_path));
  system::replace_file(system::path_of(new_path), system::path_of(old_path), error);
  CHECK(error);
  CHECK(read_file(old_path) == "new");
}

TEST_CASE("system: every file of the library can have any letters in its name") {
  const TemporaryFolder outer;
  const std::string folder = outer.path() + '/' + name;
  fs::create_directories(system::path_of(folder));

  const std::string weights = folder + "/weights.safetensors";
  io::save_safetensors(weights, {{"w", ones({2})}});
  CHECK(io::load_safetensors(weights).at(0).first == "w");

  const runtime::DiskCache cache(folder + "/cache");
  cache.store("key", {"a title", {1, 2, 3}, {}});
  REQUIRE(cache.load("key"));
  REQUIRE(cache.entries().size() == 1);
  CHECK(cache.entries()[0].file.find(name) != std::string::npos);
  CHECK(cache.clear() == 1);

  {
    LockedFile file("test", folder + "/made/tuning.txt");
    CHECK(file.read().empty());
    file.replace("text");
  }
  CHECK(read_whole(folder + "/made/tuning.txt") == "text");

  write_file(folder + "/device.json", to_json(Device().info()));
  CHECK(read_device_info(folder + "/device.json").name == Device().info().name);

  // A label file with two labels, 7 and 9.
  write_file(folder + "/labels", std::string("\0\0\x08\x01\0\0\0\x02\x07\x09", 10));
  CHECK(io::read_idx_labels(folder + "/labels") == std::vector<std::uint8_t>{7, 9});
}
