#include "runtime/program/kernel_source.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <vector>

#include "base/system.h"
#include "base/text.h"
#include "runtime/verbose.h"

namespace crisol::runtime {

namespace {

std::string read_source(std::string_view name) {
  static const std::string folder = environment("CRISOL_KERNEL_PATH");
  if (!folder.empty()) {
    const std::string path = concat(folder, '/', name);
    std::ifstream file(system::path_of(path), std::ios::binary);
    if (file) return {std::istreambuf_iterator<char>(file), {}};
    fail(ErrorCode::build_failure, "kernels", "CRISOL_KERNEL_PATH is set, but ", path, " cannot be read");
  }
  const auto found = embedded_kernels().find(name);
  if (found == embedded_kernels().end()) fail(ErrorCode::build_failure, "kernels", "no kernel file ", name);
  return std::string(found->second);
}

using Names = std::set<std::string, std::less<>>;

/// Replaces includes by files. Where an #include stands under a condition that does not hold, the compiler skips the
/// file, so the file does not count as included behind that condition.
class Expander {
 public:
  void add_text(const std::string& text) {
    std::istringstream lines(text);
    constexpr std::string_view directive = "#include \"";
    for (std::string line; std::getline(lines, line);) {
      if (line.ends_with('\r')) line.pop_back();  // A checkout on Windows may have such line ends.
      if (line.starts_with(directive)) {
        add_file(line.substr(directive.size(), line.rfind('"') - directive.size()));
        continue;
      }
      follow_condition(line);
      out_ += line;
      out_ += '\n';
    }
  }

  void add_file(const std::string& name) {
    if (std::any_of(included_.begin(), included_.end(), [&](const Names& names) { return names.contains(name); }))
      return;
    included_.back().insert(name);
    const bool under_condition = included_.size() > 1;
    if (!under_condition && !guarded_.contains(name)) return add_text(read_source(name));
    guarded_.insert(name);
    std::string macro = "INCLUDED_" + name;
    std::replace_if(
        macro.begin(), macro.end(), [](char c) { return c == '/' || c == '.'; }, '_');
    out_ += concat("#ifndef ", macro, "\n#define ", macro, '\n');
    add_text(read_source(name));
    out_ += "#endif\n";
  }

  std::string take() { return std::move(out_); }

 private:
  void follow_condition(std::string_view line) {
    const std::size_t mark = line.find_first_not_of(' ');
    if (mark == std::string_view::npos || line[mark] != '#') return;
    line.remove_prefix(std::min(line.find_first_not_of(' ', mark + 1), line.size()));
    if (line.starts_with("if")) included_.emplace_back();
    if (line.starts_with("el")) included_.back().clear();
    if (line.starts_with("endif") && included_.size() > 1) included_.pop_back();
  }

  std::vector<Names> included_{1};  ///< The files behind no condition, and behind each condition that is open.
  Names guarded_;                   ///< Files that were included under a condition.
  std::string out_;
};

}  // namespace

std::string expanded_source(std::string_view prelude, std::string_view name) {
  Expander expander;
  expander.add_text(std::string(prelude));
  if (!name.empty()) expander.add_file(std::string(name));
  return expander.take();
}

}  // namespace crisol::runtime
