// Files of lib/, tools/ and cl_kernels/ have at most 300 lines, functions at most 60, and folders at most 30 files, so
// that a reader keeps them in view.
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "doctest/doctest.h"
#include "support/files.h"

using crisol::testing::lines_of;
using crisol::testing::read_file;

namespace {

namespace fs = std::filesystem;

/// Whether a statement or a declaration begins in this line, behind at most `indent` blanks. Directives and labels of
/// classes are neither.
bool begins(const std::string& line, std::size_t indent) {
  const std::size_t at = line.find_first_not_of(' ');
  return at <= indent && line[at] != '#' && line[at] != '}' && line.back() != ':';
}

/// The first lines of the blocks with more than `limit` lines, from a signature to the brace that closes it. A closing
/// brace stands alone below the first character of its signature, because the sources are formatted. Classes and tables
/// end with "};" and namespaces with a comment.
std::vector<std::string> long_functions(const std::string& text, std::size_t limit) {
  const std::vector<std::string> lines = lines_of(text);
  std::vector<std::string> found;
  for (std::size_t end = 0; end < lines.size(); ++end) {
    const std::size_t indent = lines[end].find('}');
    if (indent == std::string::npos || lines[end] != std::string(indent, ' ') + "}") continue;
    std::size_t first = end;
    while (first > 0 && !begins(lines[first], indent)) --first;
    if (end - first + 1 > limit) found.push_back(lines[first]);
  }
  return found;
}

/// The folders that hold more than `limit` of these files. The files of sub-folders do not count.
std::vector<fs::path> full_folders(const std::vector<fs::path>& files, int limit) {
  std::map<fs::path, int> counts;
  for (const fs::path& file : files) ++counts[file.parent_path()];
  std::vector<fs::path> found;
  for (const auto& [folder, count] : counts)
    if (count > limit) found.push_back(folder);
  return found;
}

std::string function_of(std::size_t lines, const std::string& indent = "") {
  std::string text = indent + "void f(int a,\n" + indent + "       int b) {\n";
  for (std::size_t i = 3; i < lines; ++i) text += i == 5 ? "#pragma unroll\n" : indent + "  {}\n";
  return text + indent + "}\n";
}

}  // namespace

TEST_CASE("lengths: files have at most 300 lines, functions at most 60") {
  const std::string root = CRISOL_SOURCE_DIR;
  int files = 0;
  for (const char* folder : {"/lib", "/cl_kernels", "/tools"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root + folder)) {
      const fs::path extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp" && extension != ".cl") continue;
      ++files;
      const std::string text = read_file(entry.path().string());
      CAPTURE(entry.path().generic_string());
      CHECK(lines_of(text).size() <= 300);
      for (const std::string& function : long_functions(text, 60)) FAIL_CHECK(function << " … has more than 60 lines");
    }
  }
  CHECK(files > 500);
}

TEST_CASE("lengths: a long function is found") {
  CHECK(long_functions(function_of(60), 60).empty());
  CHECK(long_functions(function_of(61), 60) == std::vector<std::string>{"void f(int a,"});
  CHECK(long_functions("int x;\n\n" + function_of(60) + "\n" + function_of(60), 60).empty());
  CHECK(long_functions("class A {\n public:\n" + function_of(60, "  ") + function_of(61, "  ") + "};\n", 60) ==
        std::vector<std::string>{"  void f(int a,"});
  CHECK(long_functions("namespace {\n" + function_of(59) + "}  // namespace\n", 58).size() == 1);
}

// Paths below include/ and docs/ are addresses that programs and pages elsewhere name, so their files stay where they
// are.
TEST_CASE("lengths: folders have at most 30 files") {
  std::vector<fs::path> files;
  for (const char* tree : {"bench", "cl_kernels", "cmake", "devices", "lib", "python", "samples", "tests", "tools"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(CRISOL_SOURCE_DIR) / tree))
      if (entry.is_regular_file()) files.push_back(entry.path());
  CHECK(files.size() > 1000);
  for (const fs::path& folder : full_folders(files, 30))
    FAIL_CHECK(folder.generic_string() << " has more than 30 files");
}

TEST_CASE("lengths: a full folder is found") {
  const std::vector<fs::path> files{"a/1.h", "a/2.h", "a/b/1.h", "a/b/2.h", "a/b/3.h", "c/1.h"};
  CHECK(full_folders(files, 3).empty());
  CHECK(full_folders(files, 2) == std::vector<fs::path>{"a/b"});
  CHECK(full_folders(files, 1) == std::vector<fs::path>{"a", "a/b"});
}
