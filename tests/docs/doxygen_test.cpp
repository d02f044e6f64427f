// Every public name has a description: doxygen prints no warning about the headers.
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "crisol/device.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

/// Warnings to ignore: a constructor is described by its class, ops::NAME_into by NAME and crisol/ops.h, and =, ==, !=
/// and defaulted functions need no description.
bool says_itself(const std::string& warning) {
  static const std::regex constructor(
      R"(Member (\w+)\(.* of (?:class|struct) (?:\w+::)*\1(?:<.*>)? is not documented)");
  static const std::regex plain(R"(Member operator(?:=|==|!=)\(|=default \(function\))");
  static const std::regex into(R"(Member \w+_into\(.* of namespace crisol::ops )");
  return std::regex_search(warning, constructor) || std::regex_search(warning, plain) ||
         std::regex_search(warning, into);
}

}  // namespace

TEST_CASE("docs: every public name has a description") {
  if (Device().info().platform != "Portable Computing Language") CRISOL_SKIP("the same for all; done on PoCL");
  if (run_program("/usr/bin/env", {"doxygen", "--version"}).status != 0) CRISOL_SKIP("doxygen is not installed");
  const std::string root = CRISOL_SOURCE_DIR;
  const TemporaryFolder folder;
  const std::string settings = folder.path() + "/Doxyfile";
  write_file(settings, read_file(root + "/docs/Doxyfile") + "OUTPUT_DIRECTORY = " + folder.path() + "\n");
  const ProcessResult result = run_program("/usr/bin/env", {"-C", root, "doxygen", settings});
  CHECK(result.status == 0);
  std::set<std::string> warnings;  // A class repeats the warnings of its bases.
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && !says_itself(line)) warnings.insert(line);
  for (const std::string& warning : warnings) FAIL_CHECK(warning);
  CHECK(read_file(folder.path() + "/html/classcrisol_1_1Tensor.html").size() > 10000);
}
