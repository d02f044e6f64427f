#include "runtime/program/kernel_source.h"

#include <fstream>
#include <set>

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

void expand_file(std::string_view name, Names& seen, std::string& out);

void expand_text(const std::string& text, Names& seen, std::string& out) {
  std::istringstream lines(text);
  constexpr std::string_view directive = "#include \"";
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();  // A checkout on Windows may have such line ends.
    if (line.compare(0, directive.size(), directive) == 0) {
      expand_file(line.substr(directive.size(), line.rfind('"') - directive.size()), seen, out);
    } else {
      out += line;
      out += '\n';
    }
  }
}

void expand_file(std::string_view name, Names& seen, std::string& out) {
  if (seen.emplace(name).second) expand_text(read_source(name), seen, out);
}

}  // namespace

std::string expanded_source(std::string_view prelude, std::string_view name) {
  Names seen;
  std::string out;
  expand_text(std::string(prelude), seen, out);
  if (!name.empty()) expand_file(name, seen, out);
  return out;
}

}  // namespace crisol::runtime
