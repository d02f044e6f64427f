#include "cli/program.h"

#include <filesystem>
#include <sstream>

#include "crisol/device.h"

namespace crisol::testing {

std::string crisol_program() {
  const auto path = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "crisol";
  return std::filesystem::exists(path) ? path.string() : std::string();
}

ProcessResult run_crisol(const std::vector<std::string>& words, const Environment& environment) {
  Environment all{{"CRISOL_DEVICE", Device().info().platform}};
  all.insert(all.end(), environment.begin(), environment.end());
  return run_program(crisol_program(), words, all);
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

}  // namespace crisol::testing
