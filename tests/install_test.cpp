// What `cmake --install` puts down, used by programs that know nothing of this checkout.
#include <cstdlib>
#include <filesystem>
#include <string>

#include "crisol/device.h"
#include "doctest/doctest.h"
#include "support/skip.h"
#include "support/subprocess.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

namespace fs = std::filesystem;

const std::string consumers = CRISOL_SOURCE_DIR "/tests/consumer/";

std::string run(const std::string& program, const std::vector<std::string>& arguments,
                const Environment& environment = {}) {
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const ProcessResult result = run_program("/usr/bin/env", words, environment);  // Which finds it in PATH.
  CAPTURE(program);
  CAPTURE(result.output);
  REQUIRE(result.status == 0);
  return result.output;
}

constexpr const char* expected = "sum 14, gradient 6\ncaught [relu] ";

}  // namespace

TEST_CASE("install: programs build against the installed tree by find_package and by pkg-config, and run") {
  if (Device().info().platform != "Portable Computing Language") CRISOL_SKIP("the same for all; done on PoCL");
  const TemporaryFolder folder;
  const std::string prefix = folder.path() + "/prefix";
  run("cmake", {"--install", CRISOL_BINARY_DIR, "--prefix", prefix});
  const fs::path libraries = prefix + "/" CRISOL_LIBDIR;
  CHECK(fs::exists(libraries / "libcrisol.so"));

  const std::string tree = folder.path() + "/find_package";
  run("cmake", {"-S", consumers + "find_package", "-B", tree, "-DCMAKE_PREFIX_PATH=" + prefix});
  run("cmake", {"--build", tree});
  CHECK(run(tree + "/program", {}).rfind(expected, 0) == 0);

  for (const char* file : {"man/man1/crisol.1", "bash-completion/completions/crisol", "zsh/site-functions/_crisol",
                           "fish/vendor_completions.d/crisol.fish"})
    CHECK(fs::exists(prefix + "/share/" + file));
  CHECK(run(prefix + "/bin/crisol", {"devices"}).find(Device().info().name) != std::string::npos);

  if (std::system("pkg-config --version >/dev/null 2>&1") != 0) CRISOL_SKIP("pkg-config is not installed");
  const std::string copy = folder.path() + "/pkg_config";
  fs::create_directory(copy);
  fs::copy(consumers + "pkg_config/Makefile", copy + "/Makefile");
  for (const char* source : {"/program.cpp", "/program.c"}) fs::copy(consumers + source, folder.path() + source);
  run("make", {"-C", copy}, {{"PKG_CONFIG_PATH", (libraries / "pkgconfig").string()}});
  CHECK(run(copy + "/program", {}).rfind(expected, 0) == 0);
  CHECK(run(copy + "/c_program", {}).rfind("largest 3\nrefused: [reduce] there is no 'nonsense'", 0) == 0);
}
