#include "dispatch/stored/tuning.h"

#include <cstdlib>
#include <filesystem>
#include <future>
#include <vector>

#include "base/hash.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"
#include "support/small_disk.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

TuningEntry entry(std::uint64_t key, const std::string& variant, const std::string& device = "a device") {
  return {device, "matmul m=" + std::to_string(key), key, variant, 1000, "plain", 2000};
}

constexpr int entries_of_child = 25;

/// Makes this file the file of stored choices, as long as this object exists.
class ChosenFile {
 public:
  explicit ChosenFile(const std::string& path) { set_variable("CRISOL_TUNING", path); }
  ~ChosenFile() { set_variable("CRISOL_TUNING", "0"); }
};

bool same(const TuningEntry& a, const TuningEntry& b) {
  return a.device == b.device && a.problem == b.problem && a.key == b.key && a.variant == b.variant &&
         a.nanoseconds == b.nanoseconds && a.usual == b.usual && a.usual_nanoseconds == b.usual_nanoseconds;
}

}  // namespace

TEST_CASE("tuning: entries come back from the file as they were stored, one for each device and problem") {
  const TemporaryFolder folder;
  const ChosenFile file(folder.path() + "/made/on/demand/tuning.txt");
  CHECK(tuning_file() == folder.path() + "/made/on/demand/tuning.txt");
  CHECK(tuning_entries().empty());
  CHECK_FALSE(remove_tuning("a device", 1));
  store_tuning(entry(1, "block"));
  store_tuning(entry(0xffffffffffffffffu, "block/64x64/4"));
  store_tuning(entry(1, "plain", "another device"));
  store_tuning(entry(1, "cpu_dot"));
  const auto entries = tuning_entries();
  REQUIRE(entries.size() == 3);
  CHECK(same(entries[0], entry(1, "cpu_dot")));
  CHECK(same(entries[1], entry(0xffffffffffffffffu, "block/64x64/4")));
  CHECK(same(entries[2], entry(1, "plain", "another device")));
  CHECK_FALSE(remove_tuning("a device", 2));
  CHECK(remove_tuning("a device", 1));
  CHECK(tuning_entries().size() == 2);
  CHECK(clear_tuning() == 2);
  CHECK_FALSE(std::filesystem::exists(tuning_file()));
  CHECK(clear_tuning() == 0);
}

TEST_CASE("tuning: a damaged file has no entries, and the next store makes it whole") {
  const std::string good = dispatch::write_tuning({entry(1, "block"), entry(2, "plain")});
  CHECK(dispatch::read_tuning(good).entries.size() == 2);
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x02);
    CAPTURE(i);
    CHECK(dispatch::read_tuning(bad).fault != nullptr);
    CHECK(dispatch::read_tuning(bad).entries.empty());
    const bool none = i == 0;  // An empty file is valid and has no entries.
    CHECK((dispatch::read_tuning(good.substr(0, i)).fault == nullptr) == none);
  }
  CHECK(std::string(dispatch::read_tuning("crisol tuning 2 …\n").fault) == "is of another format");

  const TemporaryFolder folder;
  const ChosenFile file(folder.path() + "/tuning.txt");
  write_file(tuning_file(), good.substr(0, good.size() - 3));
  CHECK(tuning_entries().empty());
  store_tuning(entry(3, "block"));
  CHECK(tuning_entries().size() == 1);
}

TEST_CASE("tuning: lines that end as on Windows are read as others are") {
  std::string text = dispatch::write_tuning({entry(1, "block"), entry(2, "plain")});
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.replace(at, 1, "\r\n");
  const dispatch::TuningFile file = dispatch::read_tuning(text);
  CHECK(file.fault == nullptr);
  REQUIRE(file.entries.size() == 2);
  CHECK(same(file.entries[1], entry(2, "plain")));
}

TEST_CASE("tuning: lines with a right checksum that are no entries are refused") {
  for (const char* line : {"\n", "no tabs\n", "1\td\tp\tv\t1\tu\t1\n", "000000000000000g\td\tp\tv\t1\tu\t1\n",
                           "0000000000000001\td\tp\tv\t1\tu\n", "0000000000000001\td\tp\tv\t1\tu\t1\t\n",
                           "0000000000000001\td\tp\tv\t1.5\tu\t1\n", "0000000000000001\td\tp\tv\t\tu\t1\n"}) {
    TuningEntry odd;
    std::string text = dispatch::write_tuning({odd});
    char checksum[20];
    std::snprintf(checksum, sizeof checksum, "%016llx", static_cast<unsigned long long>(hash_of(line)));
    text = text.substr(0, text.find('\n') - 16) + checksum + '\n' + line;
    CAPTURE(line);
    CHECK(std::string(dispatch::read_tuning(text).fault) == "has a line that is no entry");
  }
}

TEST_CASE("tuning: the table finds what was stored for a device, its driver and its size") {
  DeviceInfo info;
  info.name = "a GPU";
  info.platform = "a platform";
  info.driver_version = "1.0";
  info.compute_units = 4;
  const dispatch::TuningTable table({entry(7, "block", tuning_device(info)), entry(8, "plain", "another")});
  REQUIRE(table.find(info, 7) != nullptr);
  CHECK(*table.find(info, 7) == "block");
  CHECK(table.find(info, 8) == nullptr);
  for (DeviceInfo other : {info, info, info, info}) {
    static int change = 0;
    if (change == 0) other.driver_version = "1.1";
    if (change == 1) other.compute_units = 8;
    if (change == 2) other.platform = "another platform";
    if (change == 3) other.name = "another GPU";
    CAPTURE(change);
    CHECK(tuning_device(other) != tuning_device(info));
    CHECK(dispatch::TuningTable({entry(7, "block", tuning_device(info))}).find(other, 7) == nullptr);
    ++change;
  }
  CHECK(dispatch::TuningTable().empty());
}

TEST_CASE("child: stores tuned problems" * doctest::skip()) {
  const int first = std::stoi(std::getenv("CRISOL_TEST_CHILD_FIRST"));
  for (int i = 0; i < entries_of_child; ++i) store_tuning(entry(static_cast<std::uint64_t>(first + i), "block"));
}

TEST_CASE("tuning: several processes store at once, and nothing is lost") {
  const TemporaryFolder folder;
  const ChosenFile file(folder.path() + "/tuning.txt");
  constexpr int processes = 4;
  std::vector<std::future<ProcessResult>> children;
  for (int p = 0; p < processes; ++p) {
    const Environment environment{{"CRISOL_TUNING", tuning_file()},
                                  {"CRISOL_TEST_CHILD_FIRST", std::to_string(p * entries_of_child)}};
    children.push_back(std::async(std::launch::async,
                                  [environment] { return run_child("child: stores tuned problems", environment); }));
  }
  for (std::future<ProcessResult>& child : children) {
    const ProcessResult result = child.get();
    CHECK_MESSAGE(result.status == 0, result.output);
  }
  CHECK(tuning_entries().size() == processes * entries_of_child);
}

TEST_CASE("tuning: what cannot be stored is an error that names the file") {
  CHECK(refusal(ErrorCode::invalid_argument, [] { store_tuning(entry(1, "block")); }) ==
        "[tuning] there is no file to store in: CRISOL_TUNING is 0, or neither CRISOL_CACHE_DIR nor the system names a "
        "folder");
  const TemporaryFolder folder;
  write_file(folder.path() + "/file", "");
  {
    const ChosenFile file(folder.path() + "/file/tuning.txt");
    const std::string text = refusal(ErrorCode::io, [] { store_tuning(entry(1, "block")); }).c_str();
    CHECK(text.find("[tuning] " + folder.path() + "/file/tuning.txt cannot be ") == 0);
  }
  const SmallDisk disk(64);
  if (!disk.mounted()) CRISOL_SKIP(no_small_disk);
  const ChosenFile file(disk.path() + "/tuning.txt");
  store_tuning(entry(1, "block"));
  disk.fill();
  const std::string text = refusal(ErrorCode::io, [] { store_tuning(entry(2, std::string(10000, 'x'))); }).c_str();
  CHECK(text.find("[tuning] " + disk.path() + "/tuning.txt cannot be written") == 0);
  CHECK(tuning_entries().size() == 1);
}
