#include "support/subprocess.h"

#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>

namespace crisol::testing {

namespace {

// In the child: only calls that are safe after fork, then exec.
[[noreturn]] void become_child(char* const* command, const Environment& environment, int output) {
  for (const auto& [name, value] : environment) {
    if (value.empty())
      unsetenv(name.c_str());
    else
      setenv(name.c_str(), value.c_str(), 1);
  }
  // The parent's own expectation of the platform is not the child's.
  unsetenv("CRISOL_TEST_EXPECT_PLATFORM");
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execv(command[0], command);
  _exit(127);
}

enum class Output { pipe, terminal };

// With `kill_when`, kills the process as soon as that holds.
ProcessResult run(std::vector<std::string> command, const Environment& environment,
                  const std::function<bool()>& kill_when = {}, Output output = Output::pipe) {
  int ends[2];  // Ours, the child's.
  if ((output == Output::pipe ? pipe(ends) : openpty(&ends[0], &ends[1], nullptr, nullptr, nullptr)) != 0)
    throw std::runtime_error("no pipe or terminal");
  std::vector<char*> pointers;
  for (std::string& part : command) pointers.push_back(part.data());
  pointers.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) become_child(pointers.data(), environment, ends[1]);
  close(ends[1]);
  std::thread killer;
  std::atomic<bool> ended{false};
  if (kill_when)
    killer = std::thread([&] {
      while (!ended && !kill_when()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      if (!ended) kill(child, SIGKILL);
    });
  ProcessResult result;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    result.output.append(buffer, static_cast<std::size_t>(n));
  close(ends[0]);
  ended = true;
  // The killer must be done before the process number can be given to somebody else.
  if (killer.joinable()) killer.join();
  int status = 0;
  waitpid(child, &status, 0);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

std::vector<std::string> child_command(const std::string& test_case) {
  return {"/proc/self/exe", "--no-skip", "--test-case=" + test_case};
}

std::vector<std::string> program_command(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> command{program};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

}  // namespace

ProcessResult run_child(const std::string& test_case, const Environment& environment) {
  return run(child_command(test_case), environment);
}

ProcessResult run_program(const std::string& program, const std::vector<std::string>& arguments,
                          const Environment& environment) {
  return run(program_command(program, arguments), environment);
}

ProcessResult run_program_on_terminal(const std::string& program, const std::vector<std::string>& arguments,
                                      const Environment& environment) {
  return run(program_command(program, arguments), environment, {}, Output::terminal);
}

ProcessResult run_child_and_kill(const std::string& test_case, const Environment& environment, int after_ms) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(after_ms);
  return run(child_command(test_case), environment, [&] { return std::chrono::steady_clock::now() >= end; });
}

ProcessResult run_program_and_kill(const std::string& program, const std::vector<std::string>& arguments,
                                   const Environment& environment, const std::function<bool()>& when) {
  return run(program_command(program, arguments), environment, when);
}

TemporaryFolder::TemporaryFolder() {
  const std::string blanks(6, 'X');  // For mkdtemp to fill in.
  std::string name = (std::filesystem::temp_directory_path() / ("crisol-test-" + blanks)).string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace crisol::testing
