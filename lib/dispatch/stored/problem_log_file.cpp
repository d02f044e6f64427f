// CRISOL_PROBLEM_LOG: a file with a line for each problem, "matmul m=64 n=10 … count=12".
#include <mutex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/forked.h"
#include "base/locked_file.h"
#include "base/text.h"
#include "dispatch/problem_key.h"
#include "runtime/verbose.h"

namespace crisol::dispatch {

namespace {

constexpr const char* variable = "CRISOL_PROBLEM_LOG";
constexpr const char* old_variable = "CRISOL_RECORD_SHAPES";  // The variable's name in 0.1. Version 0.3 drops it.
constexpr std::string_view count_word = " count=";

/// Problems with their counts, in the order of their first use.
class Counts {
 public:
  void add(const std::string& problem, std::int64_t count) {
    const auto [at, is_new] = places_.emplace(problem, lines_.size());
    if (is_new)
      lines_.push_back({problem, count});
    else
      lines_[at->second].count += count;
  }

  void read(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t at = line.rfind(count_word);
      std::int64_t count = 0;
      if (at != std::string::npos) std::istringstream(line.substr(at + count_word.size())) >> count;
      add(line.substr(0, at), count);
    }
  }

  std::string text() const {
    std::string text;
    for (const Line& line : lines_)
      text.append(line.problem).append(count_word).append(std::to_string(line.count)).append(1, '\n');
    return text;
  }

 private:
  struct Line {
    std::string problem;
    std::int64_t count;
  };
  std::vector<Line> lines_;
  std::unordered_map<std::string, std::size_t> places_;
};

/// The problems of this process. A new problem is written at once, so that it is not lost if the program is killed.
/// Later counts are written together with the next new problem, and when the process ends.
class ProblemLogFile {
 public:
  explicit ProblemLogFile(std::string path) : path_(std::move(path)) {}

  ~ProblemLogFile() {
    if (system::forked()) return;  // The parent writes these counts.
    try {
      write();
    } catch (const Error& error) {
      runtime::log_line(error.what());
    }
  }

  bool on() const noexcept { return !path_.empty(); }

  void count(const char* op, const ProblemKey& key) {
    const std::lock_guard lock(mutex_);
    const auto [at, is_new] = met_.try_emplace(key.hash(op));
    if (is_new) at->second.text = key.text(op);
    ++at->second.unwritten;
    if (is_new) write();
  }

 private:
  struct Met {
    std::string text;
    std::int64_t unwritten = 0;
  };

  void write() {
    if (met_.empty()) return;
    LockedFile file(variable, path_);
    Counts counts;
    counts.read(file.read());
    for (const auto& [key, met] : met_)
      if (met.unwritten > 0) counts.add(met.text, met.unwritten);
    file.replace(counts.text());
    for (auto& [key, met] : met_) met.unwritten = 0;
  }

  std::string path_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, Met> met_;
};

ProblemLogFile& problem_log_file() {
  static ProblemLogFile file([] {
    const std::string path = runtime::environment(variable);
    return path.empty() ? runtime::environment(old_variable) : path;
  }());
  return file;
}

}  // namespace

bool problems_are_logged() {
  static const bool on = problem_log_file().on();
  return on;
}

void log_problem(const char* op, const ProblemKey& key) { problem_log_file().count(op, key); }

}  // namespace crisol::dispatch
