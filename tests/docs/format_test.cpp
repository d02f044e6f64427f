// Checks that sources are formatted by .clang-format.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "crisol/device.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

namespace fs = std::filesystem;

/// A script made the file, as its first line says.
bool is_made(const std::string& path) { return read_file(path).starts_with("// Made by "); }

std::vector<std::string> sources(const std::string& root) {
  std::vector<std::string> found;
  for (const char* folder : {"include", "lib", "python", "tests", "samples", "bench", "tools"})
    for (const auto& entry : fs::recursive_directory_iterator(root + "/" + folder)) {
      const std::string path = entry.path().string();
      if ((path.ends_with(".cpp") || path.ends_with(".h")) && !is_made(path)) found.push_back(path);
    }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

TEST_CASE("C++ sources are formatted") {
  if (Device().info().platform != "Portable Computing Language") CRISOL_SKIP("the same for all; done on PoCL");
  // Other versions of clang-format break lines at other places.
  const ProcessResult version = run_program("/usr/bin/env", {"clang-format", "--version"});
  if (version.output.find("version 14.") == std::string::npos) CRISOL_SKIP("clang-format 14 is not installed");
  std::vector<std::string> command{"clang-format", "--dry-run", "-Werror", "--ferror-limit=1"};
  const std::vector<std::string> files = sources(CRISOL_SOURCE_DIR);
  CHECK(files.size() > 100);
  command.insert(command.end(), files.begin(), files.end());
  const ProcessResult result = run_program("/usr/bin/env", command);
  INFO(result.output);
  CHECK(result.status == 0);
}
