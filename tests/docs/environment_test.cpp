// docs/environment.md has a row for each variable that the sources read, and no other.
#include <filesystem>
#include <regex>
#include <set>
#include <string>

#include "doctest/doctest.h"
#include "support/files.h"

namespace fs = std::filesystem;

namespace {

std::set<std::string> names_in(const std::string& text, const std::regex& pattern) {
  std::set<std::string> names;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match)
    names.insert((*match)[1]);
  return names;
}

}  // namespace

TEST_CASE("docs: environment.md names the variables that the library, its command and its tests read") {
  const std::string root = CRISOL_SOURCE_DIR;
  // Variables as the sources write them: "CRISOL_X" or "CRISOL_X=…". The tests are not searched: their own
  // variables begin with CRISOL_TEST_, or a test sets them itself.
  static const std::regex in_source(R"re("(CRISOL_[A-Z_]+)["=])re");
  static const std::regex row(R"(\n\| `(CRISOL_[A-Z_]+)` \|)");
  std::set<std::string> read{"CRISOL_TEST_DATA"};
  for (const char* folder : {"/lib", "/python/torch/src"})
    for (const auto& entry : fs::recursive_directory_iterator(root + folder)) {
      if (!entry.is_regular_file()) continue;
      read.merge(names_in(crisol::testing::read_file(entry.path().string()), in_source));
    }
  CHECK(read.size() > 8);
  const std::set<std::string> documented = names_in(crisol::testing::read_file(root + "/docs/environment.md"), row);
  for (const std::string& name : read) {
    INFO(name << " is read, and has no row");
    CHECK(documented.count(name) == 1);
  }
  for (const std::string& name : documented) {
    INFO(name << " has a row, and nothing reads it");
    CHECK(read.count(name) == 1);
  }
}
