// Follows docs/adding-an-op.md exactly: builds the page's files against the library's objects, loads its kernel by
// CRISOL_KERNEL_PATH, and runs its test.
#include <filesystem>

#include "crisol/device.h"
#include "docs/pages.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/commands.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

TEST_CASE("docs: adding-an-op.md gives an op that builds and passes its test") {
  namespace fs = std::filesystem;
  if (Device().info().platform != "Portable Computing Language") CRISOL_SKIP("the same for all; done on PoCL");
  NEEDS_COMMANDS(CRISOL_CXX_COMPILER);
  const std::string page = "docs/adding-an-op.md", root = CRISOL_SOURCE_DIR;
  const TemporaryFolder folder;
  fs::copy(root + "/cl_kernels", folder.path() + "/cl_kernels", fs::copy_options::recursive);
  std::vector<std::string> command{CRISOL_CXX_COMPILER};
  for (const Block& block : parse_page(page, read_file(root + "/" + page)).blocks) {
    CAPTURE(block.place());
    REQUIRE((block.mark == "file" || block.mark == "skip"));
    if (block.mark != "file") continue;
    CHECK_FALSE(fs::exists(root + "/" + block.detail));
    const fs::path path = folder.path() + "/" + block.detail;
    fs::create_directories(path.parent_path());
    write_file(path.string(), block.text);
    if (path.extension() == ".cpp") command.push_back(path.string());
  }
  REQUIRE(command.size() == 4);
  for (const char* include : {"/include", "/lib", "/tests"}) command.push_back("-I" + folder.path() + include);
  const std::string program = folder.path() + "/program";
  command.insert(command.end(), {"-Werror", "@" CRISOL_BINARY_DIR "/generated/adding_op.rsp", "-o", program});
  const ProcessResult built = run_program("/usr/bin/env", command);
  INFO(built.output);
  REQUIRE(built.status == 0);
  const ProcessResult result =
      run_program(program, {"--test-case=mirror*"}, {{"CRISOL_KERNEL_PATH", folder.path() + "/cl_kernels"}});
  INFO(result.output);
  CHECK(result.status == 0);
  CHECK(result.output.find("crisol_tests: 3 passed, 0 failed, 0 skipped") != std::string::npos);
}
