// Each device in a process of its own, which sends a line of JSON before each part and at the end.
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/report/measure.h"

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <iostream>
#endif

namespace crisol::cli::report {

#ifdef _WIN32

std::vector<Device> measure_all(bool quick, const Progress& progress) {
  const std::vector<crisol::Device> all = devices();
  if (all.empty()) crisol::Device();  // Throws, with how to install one.
  std::vector<Device> reports;
  for (const crisol::Device device : all) reports.push_back(measure(device, quick, progress));
  return reports;
}

#else

namespace {

constexpr unsigned longest_seconds = 900;  // Of a device; then it counts as hanging.
constexpr int no_such_device = 3;

void send(int pipe, const Device& device, const std::string& part) {
  const std::string line = nlohmann::json{{"part", part}, {"device", to_json(device)}}.dump() + '\n';
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t written = write(pipe, line.data() + at, line.size() - at);
    if (written <= 0) std::exit(1);
    at += static_cast<std::size_t>(written);
  }
}

/// The child's whole life.
[[noreturn]] void measure_into(int pipe, std::size_t index, bool quick) {
  alarm(longest_seconds);
  try {
    const std::vector<crisol::Device> all = devices();
    if (index >= all.size()) std::exit(no_such_device);
    const Device report =
        measure(all[index], quick, [&](const Device& so_far, const std::string& part) { send(pipe, so_far, part); });
    send(pipe, report, "");
    std::exit(0);
  } catch (const std::exception& error) {
    std::cerr << "crisol: " << error.what() << '\n';
    std::exit(1);
  }
}

std::string end_of(int status) {
  if (!WIFSIGNALED(status)) return concat("its process ended with status ", WEXITSTATUS(status));
  if (WTERMSIG(status) == SIGALRM) return concat("took more than ", longest_seconds, " s");
  return concat("its process ended with signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)), ')');
}

struct Child {
  Device device;
  std::string part;  ///< That was under way at the last line; empty: all were done.
  int status = 0;
  bool spoke = false;
};

Child run_child(std::size_t index, bool quick, const Progress& progress) {
  int ends[2];
  std::cout.flush();
  if (pipe(ends) != 0) fail(ErrorCode::device_failure, "report", "no pipe: ", std::strerror(errno));
  const pid_t process = fork();
  if (process < 0) fail(ErrorCode::device_failure, "report", "no process: ", std::strerror(errno));
  if (process == 0) {
    close(ends[0]);
    measure_into(ends[1], index, quick);
  }
  close(ends[1]);
  Child child;
  std::string text;
  char buffer[4096];
  for (ssize_t size; (size = read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(size));
    for (std::size_t end; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1)) {
      const auto line = nlohmann::json::parse(text.substr(0, end));
      child.device = device_from_json(line.at("device").get<std::string>());
      child.part = line.at("part").get<std::string>();
      child.spoke = true;
      if (!child.part.empty()) progress(child.device, child.part);
    }
  }
  close(ends[0]);
  waitpid(process, &child.status, 0);
  return child;
}

}  // namespace

std::vector<Device> measure_all(bool quick, const Progress& progress) {
  std::vector<Device> reports;
  for (;;) {
    Child child = run_child(reports.size(), quick, progress);
    if (!child.spoke && WIFEXITED(child.status) && WEXITSTATUS(child.status) == no_such_device) break;
    if (!child.spoke) fail(ErrorCode::device_failure, "report", "looking for devices: ", end_of(child.status));
    // A driver that crashes when the process ends, after everything, has done what was asked of it.
    if (!child.part.empty()) child.device.failures.push_back({child.part, end_of(child.status)});
    reports.push_back(std::move(child.device));
  }
  if (reports.empty()) crisol::Device();  // Throws, with how to install one.
  return reports;
}

#endif

}  // namespace crisol::cli::report
