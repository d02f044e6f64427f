// Pages with a program beside its PyTorch twin: the counts of lines are true, and crisol needs at most 1.3 times as
// many.
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>

#include "doctest/doctest.h"
#include "support/files.h"

using crisol::testing::read_file;

namespace {

/// Lines with text in the first code block of a language.
int lines_of(const std::string& page, const std::string& language) {
  const std::string fence = "```" + language + "\n";
  const std::size_t start = page.find(fence);
  if (start == std::string::npos) return 0;
  std::istringstream block(page.substr(start + fence.size(), page.find("\n```", start) - start - fence.size()));
  int count = 0;
  for (std::string line; std::getline(block, line);)
    if (line.find_first_not_of(' ') != std::string::npos) ++count;
  return count;
}

}  // namespace

TEST_CASE("docs: programs beside PyTorch twins state their lines, and are about as short") {
  static const std::regex statement(R"(has (\d+) lines, and its PyTorch twin has (\d+)\.)");
  int pages = 0;
  for (const auto& entry : std::filesystem::directory_iterator(CRISOL_SOURCE_DIR "/docs")) {
    if (entry.path().extension() != ".md") continue;
    const std::string page = read_file(entry.path().string());
    std::smatch match;
    if (!std::regex_search(page, match, statement)) continue;
    CAPTURE(entry.path().filename().string());
    const int ours = lines_of(page, "cpp"), theirs = lines_of(page, "python");
    CHECK(ours == std::stoi(match[1]));
    CHECK(theirs == std::stoi(match[2]));
    CHECK(10 * ours <= 13 * theirs);
    ++pages;
  }
  CHECK(pages >= 5);
}
