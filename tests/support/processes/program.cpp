#include "support/processes/program.h"

#include <filesystem>
#include <sstream>

#include "base/system.h"
#include "crisol/device.h"
#include "doctest/doctest.h"

namespace crisol::testing {

namespace {

Environment on_this_platform(const Environment& environment) {
  Environment all{{"CRISOL_DEVICE", Device().info().platform}};
  all.insert(all.end(), environment.begin(), environment.end());
  return all;
}

}  // namespace

std::string built_program(const std::string& name) {
  const std::filesystem::path own = system::path_of(own_program());
  const std::filesystem::path path = own.parent_path() / (name + own.extension().string());
  return std::filesystem::exists(path) ? system::text_of(path) : std::string();
}

ProcessResult run_built(const std::string& name, const std::vector<std::string>& arguments,
                        const Environment& environment) {
  return run_program(built_program(name), arguments, on_this_platform(environment));
}

ProcessResult run_built_on_terminal(const std::string& name, const std::vector<std::string>& arguments,
                                    const Environment& environment) {
  return run_program_on_terminal(built_program(name), arguments, on_this_platform(environment));
}

ProcessResult run_built_and_kill(const std::string& name, const std::vector<std::string>& arguments,
                                 const std::function<bool()>& when) {
  return run_program_and_kill(built_program(name), arguments, on_this_platform({}), when);
}

bool few_images_only() { return Device().info().platform == "rusticl"; }

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

void check_fails(const ProcessResult& result, std::initializer_list<std::string> parts) {
  CHECK(result.status != 0);
  CHECK(result.status < 128);  // It did not end by a signal.
  for (const std::string& part : parts)
    CHECK_MESSAGE(contains(result.output, part), "\"" << part << "\" is not in: " << result.output);
}

}  // namespace crisol::testing
