// The files of `cmake --install`, used by programs that know nothing of this checkout.
#include <cstdlib>
#include <filesystem>
#include <string>

#include "crisol/device.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/commands.h"
#include "support/processes/consumers.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

namespace fs = std::filesystem;

/// A source that includes all public headers below prefix.
std::string all_headers(const std::string& prefix) {
  std::string text;
  const fs::path include = prefix + "/include";
  for (const auto& entry : fs::recursive_directory_iterator(include))
    if (entry.path().extension() == ".h") text += "#include <" + fs::relative(entry.path(), include).string() + ">\n";
  return text;
}

void check_headers_with(const std::string& compiler, const std::vector<std::string>& how, const std::string& source,
                        const TemporaryFolder& folder, const std::string& prefix) {
  if (!have_command(compiler)) {
    note_skip(compiler + " is not installed");
    return;
  }
  std::vector<std::string> command{compiler, "-std=c++17"};
  command.insert(command.end(), how.begin(), how.end());
  command.insert(command.end(), {"-I", folder.path() + "/no_opencl", "-I", prefix + "/include", source});
  run_command(command);
}

/// The installed samples build with the installed library. The test builds and runs one sample. Tests that build
/// everything build all of them.
void check_samples(const TemporaryFolder& folder, const std::string& prefix) {
  const std::string tree = folder.path() + "/samples";
  run_command({"cmake", "-G", CRISOL_GENERATOR, "-S", prefix + "/share/doc/crisol/samples", "-B", tree,
               "-DCMAKE_PREFIX_PATH=" + prefix, "-DCRISOL_SAMPLE_CUDA=OFF"});
  std::vector<std::string> build{"cmake", "--build", tree, "--parallel", "2"};
  if (std::getenv("CRISOL_TEST_WHOLE_BUILDS") == nullptr) build.insert(build.end(), {"--target", "c_api", "devices"});
  run_command(build);
  CHECK(run_command({tree + "/devices"}).find(Device().info().name) != std::string::npos);
}

std::string object_target(const std::string& source) {
  const std::string generator = CRISOL_GENERATOR;
  return (generator.find("Ninja") == 0 ? "CMakeFiles/crisol_objects.dir/" : "") + source + ".o";
}

}  // namespace

TEST_CASE("install: programs build against the installed tree by find_package and by pkg-config, and run" *
          doctest::test_suite("long")) {
  if (Device().info().platform != "Portable Computing Language") CRISOL_SKIP("the same for all; done on PoCL");
  NEEDS_COMMANDS("cmake", CRISOL_CXX_COMPILER);
  const TemporaryFolder folder;
  const std::string prefix = folder.path() + "/prefix";
  run_command({"cmake", "--install", CRISOL_BINARY_DIR, "--prefix", prefix});
  CHECK(fs::exists(prefix + "/" CRISOL_LIBDIR "/libcrisol.so"));
  check_find_package(folder, prefix);

  for (const char* file : {"man/man1/crisol.1", "bash-completion/completions/crisol", "zsh/site-functions/_crisol",
                           "fish/vendor_completions.d/crisol.fish"})
    CHECK(fs::exists(prefix + "/share/" + file));
  const std::string pages = prefix + "/share/doc/crisol";
  for (const char* file : {"README.md", "CHANGELOG.md", "LICENSE", "docs/design.md", "docs/own-kernels.md",
                           "licences/README.md", "licences/cli11.txt", "samples/mnist/main.cpp"})
    CHECK_MESSAGE(fs::exists(pages + "/" + file), file);
  check_samples(folder, prefix);
  CHECK(run_command({prefix + "/bin/crisol", "devices"}).find(Device().info().name) != std::string::npos);

  const std::string source = folder.path() + "/headers.cpp", cuda = folder.path() + "/headers.cu";
  write_file(source, all_headers(prefix));
  fs::copy(source, cuda);
  for (const char* compiler : {"g++", "clang++"})
    check_headers_with(compiler, {"-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"}, source, folder,
                       prefix);
  check_headers_with("nvcc", {"-Xcompiler=-Wall,-Wextra,-Werror", "-c", "-o", folder.path() + "/headers.o"}, cuda,
                     folder, prefix);
  check_pkg_config(folder, prefix + "/" CRISOL_LIBDIR);
}

TEST_CASE("install: a static library serves the same programs, by find_package and by pkg-config") {
  if (Device().info().platform != "Portable Computing Language") CRISOL_SKIP("the same for all; done on PoCL");
  NEEDS_COMMANDS("cmake", "readelf", "ar", CRISOL_CXX_COMPILER);
  const TemporaryFolder folder;
  const std::string tree = folder.path() + "/static", prefix = folder.path() + "/prefix";
  run_command({"cmake", "-G", CRISOL_GENERATOR, "-S", CRISOL_SOURCE_DIR, "-B", tree, "-DBUILD_SHARED_LIBS=OFF",
               "-DCRISOL_BUILD_TESTS=OFF", "-DCRISOL_BUILD_SAMPLES=OFF", "-DCRISOL_BUILD_CLI=OFF",
               "-DCRISOL_UNITY=OFF"});
  if (std::getenv("CRISOL_TEST_WHOLE_BUILDS") != nullptr) {
    run_command({"cmake", "--build", tree, "--parallel", "2"});
  } else {
    // Objects of a static build differ from this build's objects only in the symbols that they hide from a loader. A
    // linker of archives sees no difference. So the test compiles one object to check its symbols, and builds the
    // archive from this build's objects.
    run_command({"cmake", "--build", tree, "--target", object_target("lib/base/version.cpp")});
    const std::string symbols =
        run_command({"readelf", "-sW", tree + "/CMakeFiles/crisol_objects.dir/lib/base/version.cpp.o"});
    CHECK(symbols.find("GLOBAL HIDDEN") != std::string::npos);
    CHECK(symbols.find("GLOBAL DEFAULT    1 ") == std::string::npos);
    fs::create_directories(tree + "/lib");
    run_command({"ar", "qcs", tree + "/lib/libcrisol.a", "@" CRISOL_BINARY_DIR "/generated/objects.rsp"});
  }
  run_command({"cmake", "--install", tree, "--prefix", prefix});
  CHECK_FALSE(fs::exists(prefix + "/" CRISOL_LIBDIR "/libcrisol.so"));
  check_find_package(folder, prefix);
  check_pkg_config(folder, prefix + "/" CRISOL_LIBDIR, "--static");
}

TEST_CASE("subproject: crisol as a part of another project builds its library alone, and sets nothing there") {
  if (Device().info().platform != "Portable Computing Language") CRISOL_SKIP("the same for all; done on PoCL");
  NEEDS_COMMANDS("cmake", CRISOL_CXX_COMPILER);
  const TemporaryFolder folder;
  for (const char* by : {"OFF", "ON"}) {
    const std::string tree = folder.path() + "/by_fetch_content_" + by;
    // The project's own CMakeLists.txt checks its variables.
    run_command({"cmake", "-G", CRISOL_GENERATOR, "-S", consumers_folder() + "subproject", "-B", tree,
                 std::string("-DBY_FETCH_CONTENT=") + by, "-DCRISOL_CHECKOUT=" CRISOL_SOURCE_DIR});
    if (std::getenv("CRISOL_TEST_WHOLE_BUILDS") != nullptr) {
      run_command({"cmake", "--build", tree, "--parallel", "2"});
      CHECK(run_command({tree + "/program"}).rfind(consumer_output, 0) == 0);
    } else {
      run_command({"cmake", "--build", tree, "--target", "program_object"});
    }
  }
}
