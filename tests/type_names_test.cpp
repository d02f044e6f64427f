// No type of lib/ has the name of a public type. A reader of the code then knows which of them is meant.
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "doctest/doctest.h"
#include "support/files.h"

using crisol::testing::read_file;

namespace {

namespace fs = std::filesystem;

/// The types that a folder defines outside of other types, each with its files.
std::map<std::string, std::set<std::string>> types_in(const std::string& folder) {
  static const std::regex definition(R"((?:class|struct|enum class)(?: CRISOL_API)? (\w+)(?: final)?(?: :.*)? \{.*)");
  std::map<std::string, std::set<std::string>> types;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string path = entry.path().generic_string();
    if (!entry.is_regular_file()) continue;
    std::istringstream lines(read_file(path));
    std::smatch match;
    for (std::string line; std::getline(lines, line);)
      if (std::regex_match(line, match, definition)) types[match[1]].insert(path);
  }
  return types;
}

}  // namespace

TEST_CASE("no type is named twice") {
  const std::string root = CRISOL_SOURCE_DIR;
  const auto in_public = types_in(root + "/include"), inside = types_in(root + "/lib");
  CHECK(in_public.size() > 60);
  CHECK(inside.size() > 100);
  for (const auto& [name, files] : in_public) {
    CHECK_MESSAGE(files.size() == 1, name << " is defined by two public headers");
    if (const auto found = inside.find(name); found != inside.end())
      FAIL_CHECK(name << " of " << *files.begin() << " is also in " << *found->second.begin());
  }
}
