// Compiles every code block of README.md and docs/*.md against the built library, as a user would, and runs it. Blocks
// of Python are left to tests/python/test_docs.py. The rules are in docs/design.md.
#include <filesystem>
#include <iostream>
#include <regex>
#include <set>
#include <sstream>

#include "crisol/device.h"
#include "crisol/kernel_cache.h"
#include "docs/pages.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/commands.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

namespace fs = std::filesystem;

const std::string root = CRISOL_SOURCE_DIR, build = CRISOL_BINARY_DIR;

/// Fills the folder in which a page's commands run with links to the checkout and its build.
void make_checkout(const std::string& folder) {
  for (const char* name :
       {"CMakeLists.txt", "bench", "cl_kernels", "cmake", "docs", "include", "lib", "samples", "tests", "tools"})
    fs::create_symlink(root + "/" + name, folder + "/" + name);
  fs::create_symlink(build, folder + "/build");
}

/// Runs a command in a folder, which is also the user's home. The test fails if the command fails.
std::string run_in(const std::string& folder, std::vector<std::string> command, const std::string& place) {
  command.insert(command.begin(), {"-C", folder});
  const ProcessResult result = run_program(
      "/usr/bin/env", command,
      {{"HOME", folder}, {"CRISOL_CACHE_DIR", kernel_cache_folder()}, {"CRISOL_TUNING", folder + "/tuning.txt"}});
  INFO(place << "\n" << result.output);
  CHECK(result.status == 0);
  return result.output;
}

std::vector<std::string> compile_command(bool cpp, const std::string& source, const std::string& program) {
  const std::string libraries = build + "/lib";
  return {cpp ? "c++" : "cc",
          cpp ? "-std=c++17" : "-std=c99",
          "-Wall",
          "-Wextra",
          "-Werror",
          "-Wno-unused-variable",
          "-Wno-unused-but-set-variable",
          "-Wno-unused-function",
          source,
          "-I" + root + "/include",
          "-L" + libraries,
          "-lcrisol",
          "-Wl,-rpath," + libraries,
          "-o",
          program};
}

/// Joins the program fragments of all pages into one program. Each block becomes a function; main() calls them in
/// order.
class Fragments {
 public:
  void add(const Block& block) {
    if (block.page != page_) begin_page(block.page);
    const std::string code =
        at_line(block.before_line, block.page, block.before) + at_line(block.line, block.page, block.text);
    if (block.mark == "declarations") {
      end_function();
      text_ += code;
    } else if (block.mark == "continue") {
      if (!open_) FAIL_CHECK(block.place() << ": nothing to continue");
      text_ += code;
    } else {
      end_function();
      const std::string name = "block_" + std::to_string(block.line);
      text_ += "static void " + name + "() {\n" + code;
      open_ = true;
      if (block.mark != "compile")
        calls_ += "  std::cout << \"" + block.place() + "\" << std::endl;\n  page_" + std::to_string(pages_) +
                  "::" + name + "();\n";
    }
    ++count_;
  }

  int count() const { return count_; }

  std::string program() {
    end_page();
    std::string source = "#include <crisol/crisol.h>\n";
    for (const char* header : {"algorithm", "cmath", "cstdint", "functional", "iostream", "memory", "string", "vector"})
      source += std::string("#include <") + header + ">\n";
    return source + includes_ + text_ + "int main() {\n" + calls_ + "}\n";
  }

 private:
  void begin_page(const std::string& page) {
    end_page();
    page_ = page;
    text_ += "namespace page_" + std::to_string(++pages_) + " {\nusing namespace crisol;\n";
  }
  void end_function() {
    if (open_) text_ += "}\n";
    open_ = false;
  }
  void end_page() {
    end_function();
    if (!page_.empty()) text_ += "}  // namespace\n";
    page_.clear();
  }
  /// Messages show the page's own line numbers. Includes move to the top of the program.
  std::string at_line(int line, const std::string& page, const std::string& code) {
    if (code.empty()) return {};
    std::string numbered = "#line " + std::to_string(line) + " \"" + page + "\"\n";
    std::istringstream lines(code);
    for (std::string text; std::getline(lines, text);) {
      const bool include = text.starts_with("#include");
      if (include) includes_ += text + '\n';
      numbered += include ? "\n" : text + '\n';
    }
    return numbered;
  }

  std::string page_, text_, includes_, calls_;
  int pages_ = 0, count_ = 0;
  bool open_ = false;
};

struct Counts {
  int fragments = 0, programs = 0, scripts = 0, skipped = 0;
};

/// Runs the programs, files and commands of one page, in their order and in one folder.
class PageRun {
 public:
  explicit PageRun(const Page& page) : page_(page) {}

  void run(Counts& counts) {
    for (std::size_t i = 0; i < page_.blocks.size(); ++i) {
      const Block& block = page_.blocks[i];
      if (block.mark == "skip") {
        std::cout << "docs: " << block.place() << " is not tested: " << block.detail << '\n';
        ++counts.skipped;
      } else if (block.mark == "file") {
        write(block);
      } else if (block.is_program()) {
        program(block);
        ++counts.programs;
      } else if (block.language == "sh") {
        used_ += block.text;
        if (!block.before.empty()) commands(block, block.before);
        output_ = commands(block, block.text);
        ++counts.scripts;
      } else if (block.mark == "output") {
        check_output(block);
      }
    }
    for (const fs::path file : files_) {
      INFO(page_.path << ": nothing on the page uses " << file);
      const bool in_folder = file.has_parent_path() && used_.find(file.parent_path().string()) != std::string::npos;
      CHECK((in_folder || used_.find(file.filename().string()) != std::string::npos));
    }
  }

 private:
  const std::string& folder() {
    if (!made_) make_checkout(folder_.path());
    made_ = true;
    return folder_.path();
  }

  std::string commands(const Block& block, const std::string& text) {
    return run_in(folder(), {"bash", "-euo", "pipefail", "-c", text}, block.place());
  }

  void check_output(const Block& block) {
    INFO(block.place() << "\n" << output_);
    if (block.detail.empty()) {
      CHECK(output_ == block.text);
      return;
    }
    const std::regex expected(block.detail);
    CHECK(std::regex_search(output_, expected));
    CHECK(std::regex_search(block.text, expected));
  }

  void write(const Block& block) {
    const fs::path path = fs::path(folder()) / block.detail;
    fs::create_directories(path.parent_path());
    // A file that the page writes replaces a link to the checkout. Nothing is written through a link.
    if (fs::is_symlink(path)) fs::remove(path);
    REQUIRE(fs::canonical(path.parent_path()).string().starts_with(fs::canonical(folder()).string()));
    write_file(path.string(), block.text);
    files_.insert(block.detail);
  }

  void program(const Block& block) {
    const std::string name = folder() + "/block_" + std::to_string(block.line);
    const bool cpp = block.language == "cpp";
    write_file(name + (cpp ? ".cpp" : ".c"),
               "#line " + std::to_string(block.line) + " \"" + block.page + "\"\n" + block.text);
    run_in(folder(), compile_command(cpp, name + (cpp ? ".cpp" : ".c"), name), block.place());
    if (block.mark != "compile") output_ = run_in(folder(), {name}, block.place());
  }

  const Page& page_;
  const TemporaryFolder folder_;
  std::set<std::string> files_;
  std::string used_, output_;
  bool made_ = false;
};

}  // namespace

TEST_CASE("docs: every code block compiles and runs" * doctest::test_suite("long")) {
  if (Device().info().platform != "Portable Computing Language") CRISOL_SKIP("the same for all; done on PoCL");
  NEEDS_COMMANDS("bash", "c++", "cc", "cmake", "make", "pkg-config");
  Counts counts;
  Fragments fragments;
  for (const Page& page : read_pages(root)) {
    for (const std::string& fault : page.faults) FAIL_CHECK(fault);
    // This page's files change the library's own sources. tests/docs/adding_op_test.cpp builds them.
    if (page.path == "docs/adding-an-op.md") continue;
    PageRun(page).run(counts);
    for (const Block& block : page.blocks) {
      if (block.language == "cpp" && !block.is_program() && block.mark != "skip" && block.mark != "file")
        fragments.add(block);
    }
  }
  counts.fragments = fragments.count();
  const TemporaryFolder folder;
  const std::string program = folder.path() + "/fragments";
  write_file(program + ".cpp", fragments.program());
  run_in(folder.path(), compile_command(true, program + ".cpp", program), "the parts of programs, compiled");
  run_in(folder.path(), {program}, "the parts of programs, run; the last place named is the one that failed");
  std::cout << "docs: " << counts.fragments << " parts of programs, " << counts.programs << " programs, "
            << counts.scripts << " blocks of commands; " << counts.skipped << " are not tested\n";
}

TEST_CASE("docs: links between pages and into the checkout lead to files") {
  static const std::regex link(R"(\]\(([^)#: ]+)(#[^)]*)?\))");
  int links = 0;
  for (const Page& page : read_pages(root)) {
    const std::string text = read_file(root + "/" + page.path);
    for (std::sregex_iterator match(text.begin(), text.end(), link), end; match != end; ++match, ++links) {
      INFO(page.path << " links to " << (*match)[1]);
      CHECK(fs::exists((fs::path(root) / page.path).parent_path() / (*match)[1].str()));
    }
  }
  CHECK(links > 20);
}

TEST_CASE("docs: a page's marks are read, and what breaks the rules is reported") {
  const auto faults = [](const char* text) { return parse_page("page.md", text).faults.size(); };

  const Page page = parse_page("page.md",
                               "# Title\n\n<!-- test: before\nint a = 1;\n-->\n```cpp\nint b = a;\n```\n\n"
                               "<!-- test: skip, needs a GPU -->\n```sh\nmake\n```\n```text\nfree\n```\n");
  CHECK(page.faults.empty());
  REQUIRE(page.blocks.size() == 3);
  CHECK(page.blocks[0].before == "int a = 1;\n");
  CHECK(page.blocks[0].text == "int b = a;\n");
  CHECK(page.blocks[0].line == 7);
  CHECK(page.blocks[0].before_line == 4);
  CHECK(page.blocks[1].mark == "skip");
  CHECK(page.blocks[1].detail == "needs a GPU");
  CHECK(page.blocks[1].before.empty());
  CHECK(page.blocks[2].mark.empty());

  CHECK(faults("    make\n") == 1);
  CHECK(faults("text\n    more of it\n") == 0);
  CHECK(faults("```cpp\nint a;\n") == 1);
  CHECK(faults("<!-- test: skip -->\n```cpp\nint a;\n```\n") == 1);
  CHECK(faults("<!-- test: ignore -->\n```cpp\nint a;\n```\n") == 1);
  CHECK(faults("<!-- test: skip, because -->\ntext\n") == 1);
  CHECK(faults("<!-- test: skip, because -->\n") == 1);
  CHECK(faults("```cmake\nproject(a)\n```\n") == 1);
  CHECK(faults("```c\nint a;\n```\n") == 1);
  CHECK(faults("```python\nimport crisol\n```\n") == 0);
  CHECK(faults("<!-- test: continue -->\n```python\nimport crisol\n```\n") == 1);
  CHECK(faults("  ```cpp\n") == 1);
  CHECK(faults("<!-- test: continue -->\n```cpp\nint main() {}\n```\n") == 1);
  CHECK(faults("<!-- test: before\nmake\n-->\n```sh\nmake install\n```\n") == 0);
  CHECK(faults("<!-- test: before\nint a;\n-->\n```cpp\nint main() {}\n```\n") == 1);
}
