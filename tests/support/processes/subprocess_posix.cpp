#include <poll.h>
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

#include "support/processes/commands.h"
#include "support/processes/run_process.h"

namespace crisol::testing {

namespace {

// Runs in the child. It makes only calls that are safe after fork, and then calls exec.
[[noreturn]] void become_child(char* const* command, const Environment& environment, int out, int errors) {
  for (const auto& [name, value] : environment) set_variable(name, value);
  // The parent's expectation of the platform does not hold for the child.
  unsetenv("CRISOL_TEST_EXPECT_PLATFORM");
  dup2(out, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  execv(command[0], command);
  _exit(127);
}

// One output of the child: our end, the child's end, and the text that arrives.
struct Stream {
  int ours = -1, childs = -1;
  std::string* text = nullptr;
};

Stream open_stream(Output kind, std::string& text) {
  int ends[2];  // Our end, the child's end.
  if ((kind == Output::pipe ? pipe(ends) : openpty(&ends[0], &ends[1], nullptr, nullptr, nullptr)) != 0)
    throw std::runtime_error("no pipe or terminal");
  return {ends[0], ends[1], &text};
}

// Reads both streams until the child has closed them. Appends everything to `all` in the order of arrival.
void read_all(const std::vector<Stream>& streams, std::string& all) {
  std::vector<pollfd> waiting;
  for (const Stream& stream : streams) waiting.push_back({stream.ours, POLLIN, 0});
  for (std::size_t open = streams.size(); open > 0;) {
    if (poll(waiting.data(), waiting.size(), -1) < 0) continue;  // A signal came.
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (waiting[i].revents == 0) continue;
      char buffer[4096];
      const ssize_t n = read(streams[i].ours, buffer, sizeof buffer);
      if (n > 0) {
        streams[i].text->append(buffer, static_cast<std::size_t>(n));
        all.append(buffer, static_cast<std::size_t>(n));
      } else {
        waiting[i].fd = -1;  // poll ignores it.
        --open;
      }
    }
  }
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& command, const Environment& environment,
                          const std::function<bool()>& kill_when, Output output) {
  ProcessResult result;
  std::vector<Stream> streams{open_stream(output, result.out)};
  if (output == Output::pipe) streams.push_back(open_stream(output, result.errors));
  std::vector<char*> pointers;
  for (const std::string& part : command) pointers.push_back(const_cast<char*>(part.c_str()));
  pointers.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) become_child(pointers.data(), environment, streams.front().childs, streams.back().childs);
  for (const Stream& stream : streams) close(stream.childs);
  std::thread killer;
  std::atomic<bool> ended{false};
  if (kill_when)
    killer = std::thread([&] {
      while (!ended && !kill_when()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      if (!ended) kill(child, SIGKILL);
    });
  read_all(streams, result.output);
  for (const Stream& stream : streams) close(stream.ours);
  ended = true;
  // The killer must end before the system can give the process number to another process.
  if (killer.joinable()) killer.join();
  int status = 0;
  waitpid(child, &status, 0);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

void set_variable(const std::string& name, const std::string& value) {
  if (value.empty())
    unsetenv(name.c_str());
  else
    setenv(name.c_str(), value.c_str(), 1);
}

bool drivers_see_variables() { return true; }

std::string own_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

bool have_command(const std::string& name) {
  return run_program("/bin/sh", {"-c", "command -v \"$1\"", "sh", name}).status == 0;
}

}  // namespace crisol::testing
