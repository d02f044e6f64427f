// The Debian package of `cpack -G DEB`, installed by dpkg into a separate root. With CRISOL_TEST_CLEAN_ROOT=FOLDER, it
// is also installed into a whole Debian, which debootstrap makes in FOLDER (tests/clean_root.sh). This takes minutes
// and downloads files.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "crisol/device.h"
#include "crisol/version.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/commands.h"
#include "support/processes/consumers.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

namespace fs = std::filesystem;

/// The Debian packages with the libraries that a program or library of the package is linked with.
std::set<std::string> packages_needed_by(const std::string& file) {
  std::set<std::string> needed, packages;
  for (const std::string& line : lines_of(run_command({"readelf", "-d", file})))
    if (const std::size_t at = line.find('['); line.find("(NEEDED)") != std::string::npos)
      needed.insert(line.substr(at + 1, line.find(']') - at - 1));
  for (const std::string& line : lines_of(run_command({"ldd", file}))) {
    std::istringstream words(line);
    std::string name, arrow, path;
    words >> name >> arrow >> path;
    if (needed.count(name) == 0 || name.find("libcrisol") == 0) continue;
    // dpkg knows files by their names at packing time: in /lib or in /usr/lib.
    ProcessResult owner = run_program("/usr/bin/env", {"dpkg", "-S", path});
    if (owner.status != 0) owner = run_program("/usr/bin/env", {"dpkg", "-S", "/usr" + path});
    CHECK_MESSAGE(owner.status == 0, path << " belongs to no package");
    packages.insert(owner.output.substr(0, owner.output.find_first_of(":,")));
  }
  CHECK(packages.size() > 2);
  return packages;
}

/// Makes a root that contains only dpkg's data about this system's packages. The libraries themselves are this
/// system's.
void make_root(const std::string& root) {
  for (const char* folder : {"info", "updates", "triggers"}) fs::create_directories(root + "/var/lib/dpkg/" + folder);
  fs::copy("/var/lib/dpkg/status", root + "/var/lib/dpkg/status");
  if (fs::exists("/var/lib/dpkg/arch")) fs::copy("/var/lib/dpkg/arch", root + "/var/lib/dpkg/arch");
}

}  // namespace

TEST_CASE("package: a .deb with the right dependencies is installed, used and removed" * doctest::test_suite("long")) {
  if (Device().info().platform != "Portable Computing Language") CRISOL_SKIP("the same for all; done on PoCL");
  NEEDS_COMMANDS("cpack", "cmake", "dpkg", "dpkg-deb", "ldconfig", "ldd", "readelf", CRISOL_CXX_COMPILER);
  const TemporaryFolder folder;
  run_command({"cpack", "--config", CRISOL_BINARY_DIR "/CPackConfig.cmake", "-G", "DEB", "-B", folder.path()});
  std::string package;
  for (const auto& entry : fs::directory_iterator(folder.path()))
    if (entry.path().extension() == ".deb") package = entry.path().string();
  CHECK(package.find(std::string("/crisol_") + version() + "_") != std::string::npos);

  if (geteuid() != 0) CRISOL_SKIP("dpkg installs as root only");
  const std::string root = folder.path() + "/root", usr = root + "/usr", called = folder.path() + "/ldconfig.called";
  make_root(root);
  // The package's scripts call ldconfig. This one only notes the call, so that the system's own cache stays unchanged.
  fs::create_directory(folder.path() + "/bin");
  write_file(folder.path() + "/bin/ldconfig", "#!/bin/sh\n: >" + called + "\n");
  fs::permissions(folder.path() + "/bin/ldconfig", fs::perms::owner_all);
  const Environment with_ours{{"PATH", folder.path() + "/bin:" + run_command({"sh", "-c", "printf %s \"$PATH\""})}};
  const std::vector<std::string> dpkg{"dpkg", "--root=" + root, "--force-script-chrootless", "--log=/dev/null"};
  const auto dpkg_with = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), dpkg.begin(), dpkg.end());
    return run_command(arguments, with_ours);
  };
  dpkg_with({"--install", package});
  CHECK(fs::exists(called));
  CHECK(run_command({usr + "/bin/crisol", "--version"}) == std::string("crisol ") + version() + "\n");
  CHECK(run_command({usr + "/bin/crisol", "devices"}).find(Device().info().name) != std::string::npos);
  for (const char* file : {"copyright", "licences/README.md", "licences/nlohmann-json.txt", "docs/README.md"})
    CHECK_MESSAGE(fs::exists(usr + "/share/doc/crisol/" + file), file);
  check_find_package(folder, usr);
  check_pkg_config(folder, usr + "/lib");

  // Words of the dependencies, for example libc6 and ocl-icd-libopencl1.
  std::set<std::string> depends;
  for (const std::string& line : lines_of(run_command({"dpkg-deb", "--field", package, "Depends"}))) {
    std::istringstream words(line);
    for (std::string word; words >> word;) depends.insert(word.substr(0, word.find(',')));
  }
  for (const char* file : {"/bin/crisol", "/lib/libcrisol.so"})
    for (const std::string& needed : packages_needed_by(usr + file))
      CHECK_MESSAGE(depends.count(needed) == 1, std::string(file) << " needs " << needed);

  dpkg_with({"--remove", "crisol"});
  CHECK_FALSE(fs::exists(usr));

  if (const char* clean_root = std::getenv("CRISOL_TEST_CLEAN_ROOT"))
    MESSAGE(run_command({CRISOL_SOURCE_DIR "/tests/clean_root.sh", package, clean_root}));
}
