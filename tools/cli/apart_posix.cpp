#include "cli/apart.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>

#include "base/text.h"
#include "crisol/trace.h"

namespace crisol::cli {

namespace {

constexpr unsigned longest_seconds = 900;
constexpr char line_mark = 'L', error_mark = 'E', end_mark = 'F';

// A record is a mark, the text and a zero byte. A line break cannot end it, because error texts contain line breaks.
void send_record(int pipe, char mark, const std::string& text) {
  const std::string record = mark + text + '\0';
  for (std::size_t at = 0; at < record.size();) {
    const ssize_t written = write(pipe, record.data() + at, record.size() - at);
    if (written <= 0) std::exit(1);
    at += static_cast<std::size_t>(written);
  }
}

void start_trace(int number) {
  if (trace_file().empty()) return;
  const std::filesystem::path file = trace_file();
  const std::string name = concat(file.stem().string(), '-', number, file.extension().string());
  trace::start((file.parent_path() / name).string());
}

/// The main function of the child process with this number.
[[noreturn]] void live(int number, int pipe, const std::function<void(const Send&)>& work) {
  alarm(longest_seconds);
  try {
    start_trace(number);
    work([pipe](const std::string& line) {
      alarm(longest_seconds);
      send_record(pipe, line_mark, line);
    });
    send_record(pipe, end_mark, "");
  } catch (const std::exception& error) {
    send_record(pipe, error_mark, error.what());
  }
  std::exit(0);
}

std::string end_of(int status) {
  if (WIFEXITED(status))
    return WEXITSTATUS(status) == 0 ? std::string() : concat("its process ended with status ", WEXITSTATUS(status));
  if (WTERMSIG(status) == SIGALRM) return concat("took more than ", longest_seconds, " s");
  return concat("its process ended with signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)), ')');
}

}  // namespace

Ending run_apart(const std::function<void(const Send&)>& work, const std::function<void(const std::string&)>& receive) {
  int ends[2];
  std::cout.flush();
  if (pipe(ends) != 0) fail(ErrorCode::device_failure, "process", "no pipe: ", std::strerror(errno));
  static int children = 0;
  ++children;
  const pid_t process = fork();
  if (process < 0) fail(ErrorCode::device_failure, "process", "no process: ", std::strerror(errno));
  if (process == 0) {
    close(ends[0]);
    live(children, ends[1], work);
  }
  close(ends[1]);
  Ending ending;
  std::string text;
  char buffer[4096];
  for (ssize_t size; (size = read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(size));
    for (std::size_t end; (end = text.find('\0')) != std::string::npos; text.erase(0, end + 1)) {
      const std::string told = text.substr(1, end - 1);
      if (text[0] == line_mark) receive(told);
      if (text[0] == error_mark) ending.fault = told;
      if (text[0] == end_mark) ending.finished = true;
    }
  }
  close(ends[0]);
  int status = 0;
  waitpid(process, &status, 0);
  if (ending.fault.empty()) ending.fault = end_of(status);
  return ending;
}

}  // namespace crisol::cli
