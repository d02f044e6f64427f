// The code blocks of README.md and docs/*.md, and how each one is tested.
#pragma once

#include <string>
#include <vector>

namespace crisol::testing {

/// A fenced block. HTML comments before the block say how it is tested (see docs/design.md):
///
///     <!-- test: MARK DETAIL -->      one of the marks below
///     <!-- test: before
///     code that the reader does not see, before the block's own
///     -->
struct Block {
  std::string page;      ///< Path from the root of the repository.
  int line = 0;          ///< Line number of its first line of code, from 1.
  std::string language;  ///< The word after the fence; may be empty.
  std::string mark;      ///< "skip", "compile", "declarations", "continue", "file", "output" or nothing.
  std::string detail;    ///< The reason of skip and compile, the path of file.
  std::string before;    ///< Hidden code.
  int before_line = 0;
  std::string text;

  std::string place() const { return page + ":" + std::to_string(line); }
  /// A whole program in C or C++.
  bool is_program() const;
};

struct Page {
  std::string path;
  std::vector<Block> blocks;
  std::vector<std::string> faults;  ///< Violations of the rules, each with its place.
};

Page parse_page(const std::string& path, const std::string& text);

/// Reads README.md and docs/*.md below the root of the repository, sorted by name.
std::vector<Page> read_pages(const std::string& root);

}  // namespace crisol::testing
