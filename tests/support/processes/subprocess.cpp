#include "support/processes/subprocess.h"

#include <chrono>
#include <filesystem>
#include <random>
#include <stdexcept>

#include "base/system.h"
#include "base/text.h"
#include "support/processes/run_process.h"

namespace crisol::testing {

namespace {

std::vector<std::string> child_command(const std::string& test_case) {
  return {own_program(), "--no-skip", "--test-case=" + test_case};
}

std::vector<std::string> program_command(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> command{program};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

}  // namespace

ProcessResult run_child(const std::string& test_case, const Environment& environment) {
  return run_process(child_command(test_case), environment);
}

ProcessResult run_program(const std::string& program, const std::vector<std::string>& arguments,
                          const Environment& environment) {
  return run_process(program_command(program, arguments), environment);
}

ProcessResult run_program_on_terminal(const std::string& program, const std::vector<std::string>& arguments,
                                      const Environment& environment) {
  return run_process(program_command(program, arguments), environment, {}, Output::terminal);
}

ProcessResult run_child_and_kill(const std::string& test_case, const Environment& environment, int after_ms) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(after_ms);
  return run_process(child_command(test_case), environment, [&] { return std::chrono::steady_clock::now() >= end; });
}

ProcessResult run_program_and_kill(const std::string& program, const std::vector<std::string>& arguments,
                                   const Environment& environment, const std::function<bool()>& when) {
  return run_process(program_command(program, arguments), environment, when);
}

TemporaryFolder::TemporaryFolder() {
  std::random_device random;
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / concat("crisol-test-", random(), random());
  if (!std::filesystem::create_directory(path)) throw std::runtime_error("there is " + path.string() + " already");
  // With another umask the library would not use a cache in it.
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  path_ = system::text_of(path);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  const std::filesystem::path path = system::path_of(path_);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all, ignored);
  std::filesystem::remove_all(path, ignored);
}

}  // namespace crisol::testing
