#include "runtime/program/disk_cache.h"

#ifndef _WIN32
#include <sys/stat.h>
#include <unistd.h>
#endif

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <thread>

#include "base/locked_file.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"

namespace fs = std::filesystem;
using crisol::runtime::CachedProgram;
using crisol::runtime::DiskCache;
using crisol::testing::own_program;
using crisol::testing::ProcessResult;
using crisol::testing::read_file;
using crisol::testing::run_child;
using crisol::testing::run_program_and_kill;
using crisol::testing::write_file;

namespace {

CachedProgram sample(std::size_t size, unsigned char first) {
  CachedProgram program;
  program.title = "gemm.cl for a device";
  for (std::size_t i = 0; i < size; ++i) program.binary.push_back(static_cast<unsigned char>(first + i * 7));
  program.warmed = {"gemm 1 1 1", "sum 64 1 1"};
  return program;
}

// So large that a process can be killed during the write.
const CachedProgram old_program = sample(300000, 1), new_program = sample(300000, 2);

}  // namespace

TEST_CASE("a program comes back from the disk cache as it was stored") {
  const crisol::testing::TemporaryFolder folder;
  const DiskCache cache(folder.path() + "/made/on/demand");
  CHECK_FALSE(cache.load("key"));
  cache.store("key", sample(1000, 3));
  const auto loaded = cache.load("key");
  REQUIRE(loaded);
  CHECK(loaded->binary == sample(1000, 3).binary);
  CHECK(loaded->warmed == sample(1000, 3).warmed);
  CHECK(loaded->title == "gemm.cl for a device");
  CHECK_FALSE(cache.load("another key"));
}

TEST_CASE("a damaged file is never taken for a program") {
  const crisol::testing::TemporaryFolder folder;
  const DiskCache cache(folder.path());
  cache.store("key", sample(200, 1));
  const std::string path = cache.path_of("key");
  const std::string good = read_file(path);
  SUBCASE("any byte changed") {
    for (std::size_t i = 0; i < good.size(); ++i) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ 0x20);
      write_file(path, bad);
      CAPTURE(i);
      CHECK_FALSE(cache.load("key"));
    }
  }
  SUBCASE("cut at any length") {
    for (std::size_t length = 0; length < good.size(); ++length) {
      write_file(path, good.substr(0, length));
      CAPTURE(length);
      CHECK_FALSE(cache.load("key"));
    }
  }
  SUBCASE("longer than it says") {
    write_file(path, good + "x");
    CHECK_FALSE(cache.load("key"));
  }
  SUBCASE("sizes that would overflow") {
    std::string bad = good;
    for (std::size_t i = 16; i < 32; ++i) bad[i] = static_cast<char>(0xff);
    write_file(path, bad);
    CHECK_FALSE(cache.load("key"));
  }
  SUBCASE("a folder of that name") {
    fs::remove(path);
    fs::create_directory(path);
    CHECK_FALSE(cache.load("key"));
    cache.store("key", sample(10, 1));  // Cannot replace the file, but must not throw.
    CHECK_FALSE(cache.load("key"));
  }
  // The next store repairs it.
  if (fs::is_regular_file(path)) {
    cache.store("key", sample(200, 1));
    CHECK(cache.load("key"));
  }
}

TEST_CASE("a folder that cannot be written or made is no cache, and no error") {
  const crisol::testing::TemporaryFolder folder;
  write_file(folder.path() + "/file", "");
  const DiskCache below_a_file(folder.path() + "/file/cache");
  below_a_file.store("key", sample(10, 1));
  CHECK_FALSE(below_a_file.load("key"));
  const DiskCache nowhere("");
  nowhere.store("key", sample(10, 1));
  CHECK_FALSE(nowhere.load("key"));
  if (fs::exists("/proc/self")) {
    // Behaves like a full disk: every write to the temporary file fails.
    const DiskCache full("/proc/self");
    full.store("key", sample(10, 1));
    CHECK_FALSE(full.load("key"));
  }
}

TEST_CASE("child: stores and loads under an open umask" * doctest::skip()) {
  NEEDS_POSIX("permissions");
#ifndef _WIN32
  umask(0);
  const std::string folder = std::getenv("CRISOL_TEST_CHILD_FOLDER");
  const DiskCache cache(folder + "/made/here");
  cache.store("key", sample(100, 1));
  const auto permissions = [](const std::string& path) {
    return static_cast<unsigned>(fs::status(path).permissions());
  };
  CHECK(permissions(folder + "/made") == 0700);
  CHECK(permissions(folder + "/made/here") == 0700);
  CHECK(permissions(cache.path_of("key")) == 0600);
  CHECK(cache.load("key"));
  {
    crisol::LockedFile file("test", folder + "/more/tuning.txt");
    file.replace("text");
  }
  CHECK(permissions(folder + "/more") == 0700);
  CHECK(permissions(folder + "/more/tuning.txt") == 0600);
  fs::permissions(folder + "/more/tuning.txt", fs::perms(0644));
  {
    crisol::LockedFile file("test", folder + "/more/tuning.txt");
    file.replace("other text");
  }
  CHECK(permissions(folder + "/more/tuning.txt") == 0644);  // Its user shares it.
#endif
}

TEST_CASE("folders of the cache are for their user alone, whatever the umask") {
  NEEDS_POSIX("permissions");
  const crisol::testing::TemporaryFolder folder;
  const ProcessResult result =
      run_child("child: stores and loads under an open umask", {{"CRISOL_TEST_CHILD_FOLDER", folder.path()}});
  CHECK_PASSED(result);
}

TEST_CASE("child: loads a program that others can change" * doctest::skip()) {
  const DiskCache cache(std::getenv("CRISOL_TEST_CHILD_FOLDER"));
  for (int round = 0; round < 2; ++round) {
    CHECK_FALSE(cache.load("key"));
    CHECK_FALSE(cache.load("other key"));
  }
  cache.store("new key", sample(10, 1));
}

TEST_CASE("a folder or a file that others can change is passed over, with one message") {
  NEEDS_POSIX("permissions");
  const crisol::testing::TemporaryFolder outer;
  const std::string folder = outer.path() + "/cache";
  const DiskCache cache(folder);
  for (const char* key : {"key", "other key"}) cache.store(key, sample(100, 1));
  REQUIRE(cache.load("key"));
  const auto check_passed_over = [&](const std::string& named, const char* reason, bool stores) {
    const ProcessResult result =
        run_child("child: loads a program that others can change", {{"CRISOL_TEST_CHILD_FOLDER", folder}});
    CHECK_PASSED(result);
    const std::string message = named + " is not used: it " + reason;
    CHECK_MESSAGE(result.output.find(message) != std::string::npos, result.output);
    CHECK_MESSAGE(result.output.find("is not used") == result.output.rfind("is not used"), result.output);
    CHECK(result.output.find("chmod go-w") != std::string::npos);
    CHECK(fs::exists(cache.path_of("new key")) == stores);
    fs::remove(cache.path_of("new key"));
  };
  for (const unsigned writable : {0720u, 0702u, 0777u}) {
    CAPTURE(writable);
    fs::permissions(folder, fs::perms(writable));
    check_passed_over(folder, "can be written by other users", false);
  }
  fs::permissions(folder, fs::perms(0755));  // Others may look.
  CHECK(cache.load("key"));
  for (const char* key : {"key", "other key"}) fs::permissions(cache.path_of(key), fs::perms(0664));
  check_passed_over(cache.path_of("key"), "can be written by other users", true);
  for (const char* key : {"key", "other key"}) fs::permissions(cache.path_of(key), fs::perms(0644));
  CHECK(cache.load("key"));
#ifndef _WIN32
  if (geteuid() != 0) CRISOL_SKIP("the rest gives files to another user, which takes root's rights");
  constexpr uid_t nobody = 65534;
  for (const char* key : {"key", "other key"}) REQUIRE(chown(cache.path_of(key).c_str(), nobody, nobody) == 0);
  check_passed_over(cache.path_of("key"), "belongs to another user", true);
  for (const char* key : {"key", "other key"}) REQUIRE(chown(cache.path_of(key).c_str(), 0, 0) == 0);
  REQUIRE(chown(folder.c_str(), nobody, nobody) == 0);
  check_passed_over(folder, "belongs to another user", false);
#endif
}

TEST_CASE("what cannot be removed from the folder is said") {
  const crisol::testing::TemporaryFolder folder;
  const DiskCache cache(folder.path());
  cache.store("key", sample(10, 1));
  const std::string file = cache.entries().at(0).file;
  REQUIRE(fs::remove(file));
  fs::create_directories(file + "/holds");
  CHECK(crisol::testing::refusal(crisol::ErrorCode::io, [&] { cache.clear(); }) ==
        doctest::Contains("[cache] cannot remove "));
}

TEST_CASE("child: stores a program without end" * doctest::skip()) {
  const DiskCache cache(std::getenv("CRISOL_TEST_CHILD_FOLDER"));
  for (;;) cache.store("key", new_program);
}

TEST_CASE("a writer killed at any moment leaves the old program or the new one") {
  if (crisol::testing::slow_device()) CRISOL_SKIP("file handling only; run on the other implementations");
  const crisol::testing::TemporaryFolder folder;
  const DiskCache cache(folder.path());
  for (int round = 0; round < 10; ++round) {
    cache.store("key", old_program);
    const auto in_the_midst_of_it = [&] {
      const auto loaded = cache.load("key");
      if (!loaded || loaded->binary == old_program.binary) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(500 * round));
      return true;
    };
    const ProcessResult killed =
        run_program_and_kill(own_program(), {"--no-skip", "--test-case=child: stores a program without end"},
                             {{"CRISOL_TEST_CHILD_FOLDER", folder.path()}}, in_the_midst_of_it);
    CHECK_MESSAGE(killed.status == 128 + 9, killed.output);
    const auto loaded = cache.load("key");
    REQUIRE(loaded);
    CHECK((loaded->binary == old_program.binary || loaded->binary == new_program.binary));
  }
}

TEST_CASE("child: stores a program a hundred times" * doctest::skip()) {
  const DiskCache cache(std::getenv("CRISOL_TEST_CHILD_FOLDER"));
  for (int i = 0; i < 100; ++i) cache.store("key", new_program);
}

TEST_CASE("two processes storing the same program at once leave a whole one") {
  if (crisol::testing::slow_device()) CRISOL_SKIP("file handling only; run on the other implementations");
  const crisol::testing::TemporaryFolder folder;
  const DiskCache cache(folder.path());
  cache.store("key", old_program);
  std::future<ProcessResult> child = std::async(std::launch::async, [&] {
    return run_child("child: stores a program a hundred times", {{"CRISOL_TEST_CHILD_FOLDER", folder.path()}});
  });
  while (child.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    cache.store("key", old_program);
    const auto loaded = cache.load("key");
#ifdef _WIN32
    // Windows may refuse to open a file while it is replaced. The library then compiles the program.
    if (!loaded) continue;
#endif
    REQUIRE(loaded);
    CHECK((loaded->binary == old_program.binary || loaded->binary == new_program.binary));
  }
  const ProcessResult result = child.get();
  CHECK_MESSAGE(result.status == 0, result.output);
  // No temporary file remains.
  for (const auto& entry : fs::directory_iterator(folder.path())) CHECK(entry.path().extension() == ".bin");
}

TEST_CASE("a program can choose the folder, and go back to the one of the environment") {
  const std::string before = crisol::kernel_cache_folder();
  crisol::set_kernel_cache_folder("/somewhere/else");
  CHECK(crisol::kernel_cache_folder() == "/somewhere/else");
  CHECK(DiskCache::default_folder() == "/somewhere/else");
  crisol::set_kernel_cache_folder("");
  CHECK(crisol::kernel_cache_folder() == before);
}
