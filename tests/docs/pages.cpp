#include "docs/pages.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <sstream>
#include <string_view>

#include "support/files.h"

namespace crisol::testing {

namespace {

constexpr std::string_view comment_start = "<!-- test: ", comment_end = "-->", fence = "```";

bool one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(' ') - first + 1));
}

/// Reads a page line by line. `next_` is the next block: its comments were read, but not yet its fence.
class Parser {
 public:
  Parser(const std::string& path, const std::string& text) : lines_(text) {
    page_.path = path;
    next_.page = path;
  }

  Page parse() {
    bool blank_before = true;
    for (std::string line; read(line);) {
      if (line.starts_with(fence)) {
        block(line);
      } else if (line.starts_with(comment_start)) {
        comment(line);
      } else if (const std::string text = trimmed(line); text.starts_with("<!-- test") || text.starts_with(fence)) {
        fault("a fence or a test comment does not begin its line");
      } else if (blank_before && line.starts_with("    ")) {
        fault("an indented block: use a fence");
      } else if (!line.empty() && is_marked()) {
        fault("a test comment without a block");
        reset();
      }
      blank_before = line.empty();
    }
    if (is_marked()) fault("a test comment without a block");
    return std::move(page_);
  }

 private:
  bool read(std::string& line) {
    ++number_;
    return static_cast<bool>(std::getline(lines_, line));
  }
  void fault(const std::string& text) {
    page_.faults.push_back(page_.path + ":" + std::to_string(number_) + ": " + text);
  }
  bool is_marked() const { return !next_.mark.empty() || !next_.before.empty(); }
  void reset() {
    next_ = Block();
    next_.page = page_.path;
  }

  void comment(const std::string& line) {
    const std::string rest = line.substr(comment_start.size());
    if (trimmed(rest) == "before") {
      next_.before_line = number_ + 1;
      for (std::string code; read(code) && code != comment_end;) next_.before += code + '\n';
      return;
    }
    const std::size_t end = rest.find(comment_end);
    if (end == std::string::npos) return fault("the test comment does not end");
    const std::string words = trimmed(rest.substr(0, end));
    const std::size_t word = words.find_first_of(", ");
    next_.mark = words.substr(0, word);
    next_.detail = word == std::string::npos ? "" : trimmed(std::string_view(words).substr(word + 1));
    if (!one_of(next_.mark, {"skip", "compile", "declarations", "continue", "file", "output"}))
      fault("unknown mark " + next_.mark);
    if (one_of(next_.mark, {"skip", "compile"}) && next_.detail.empty()) fault(next_.mark + " needs a reason");
    if (next_.mark == "file" && next_.detail.empty()) fault("file needs a path");
  }

  void block(const std::string& opening) {
    next_.language = trimmed(std::string_view(opening).substr(fence.size()));
    next_.line = number_ + 1;
    bool closed = false;
    for (std::string line; !closed && read(line);) {
      closed = line == fence;
      if (!closed) next_.text += line + '\n';
    }
    if (!closed) fault("a block does not end");
    check();
    page_.blocks.push_back(std::move(next_));
    reset();
  }

  void check() {
    const bool cpp = next_.language == "cpp", plain = one_of(next_.language, {"", "text", "json"});
    const bool takes_before = next_.language == "sh" || (cpp && !next_.is_program());
    if (!next_.before.empty() && !takes_before) fault("hidden code before a block that does not take it");
    if (plain && !one_of(next_.mark, {"", "output", "file"})) fault("only code takes the mark " + next_.mark);
    if (plain || one_of(next_.mark, {"skip", "file"})) return;
    if (one_of(next_.mark, {"declarations", "continue"}) && (!cpp || next_.is_program()))
      fault("only a part of a C++ program takes the mark " + next_.mark);
    if (cpp || next_.language == "sh" || next_.language == "python" || (next_.language == "c" && next_.is_program()))
      return;
    fault("a block of " + next_.language + " needs a mark: file or skip");
  }

  std::istringstream lines_;
  Page page_;
  Block next_;
  int number_ = 0;
};

}  // namespace

bool Block::is_program() const { return one_of(language, {"cpp", "c"}) && text.find("int main(") != std::string::npos; }

Page parse_page(const std::string& path, const std::string& text) { return Parser(path, text).parse(); }

std::vector<Page> read_pages(const std::string& root) {
  namespace fs = std::filesystem;
  std::vector<std::string> paths{"README.md"};
  for (const auto& entry : fs::directory_iterator(root + "/docs"))
    if (entry.path().extension() == ".md") paths.push_back("docs/" + entry.path().filename().string());
  std::sort(paths.begin(), paths.end());
  std::vector<Page> pages;
  for (const std::string& path : paths) pages.push_back(parse_page(path, read_file(root + "/" + path)));
  return pages;
}

}  // namespace crisol::testing
