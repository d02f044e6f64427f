#include "support/skip.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "crisol/device.h"
#include "doctest/doctest.h"
#include "support/listener.h"
#include "support/processes/subprocess.h"

namespace crisol::testing {
namespace {

// The results of the run, by test case. finish() prints them, and tests/run.sh reads them.
struct Outcome {
  int passed = 0;
  std::vector<std::string> failed;
  std::map<std::string, std::set<std::string>> skipped;
  std::vector<std::pair<double, std::string>> seconds;
};

std::string running_test;
std::set<std::string> skip_reasons;
Outcome outcome;

void print_slowest() {
  std::sort(outcome.seconds.rbegin(), outcome.seconds.rend());
  for (std::size_t i = 0; i < std::min<std::size_t>(20, outcome.seconds.size()); ++i) {
    const auto& [seconds, name] = outcome.seconds[i];
    if (seconds >= 1) std::cout << "[slow] " << name << ": " << static_cast<int>(seconds + 0.5) << " s\n";
  }
}

/// CRISOL_TEST_OPTIMIZED=NUMBER/PARTS lets PoCL compile kernels with optimization for one of PARTS parts of the test
/// files, and without it for the others: that takes a third of the time. Processes that a test starts do the same.
void choose_optimization(const std::string& file) {
  const char* const asked = std::getenv("CRISOL_TEST_OPTIMIZED");
  if (asked == nullptr) return;
  unsigned number = 0, parts = 1;
  char slash = 0;
  std::istringstream(asked) >> number >> slash >> parts;
  unsigned part = 0;  // The same on every machine.
  for (const char c : file.substr(file.rfind('/') + 1)) part = (31 * part + static_cast<unsigned char>(c)) % parts;
  // Trainings with thousands of images run for longer than they compile.
  const bool trains = file.ends_with("real_mnist_test.cpp");
  set_variable("POCL_EXTRA_BUILD_FLAGS", part == number || trains ? "" : "-cl-opt-disable");
}

/// Runs together with doctest's own console output. Prints the results when the run ends, also when it ends by a crash.
class Summary : public Listener {
 public:
  explicit Summary(const doctest::ContextOptions&) {}

  void test_case_start(const doctest::TestCaseData& test) override {
    running_test = test.m_name;
    choose_optimization(test.m_file.c_str());
    // For tests/watch.sh.
    if (const char* file = std::getenv("CRISOL_TEST_PROGRESS")) std::ofstream(file) << running_test << '\n';
    skip_reasons.clear();
  }

  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    outcome.seconds.emplace_back(stats.seconds, running_test);
    if (!stats.testCaseSuccess) {
      outcome.failed.push_back(running_test);
    } else if (!skip_reasons.empty()) {
      outcome.skipped[running_test] = skip_reasons;
    } else {
      ++outcome.passed;
    }
  }

  void test_run_end(const doctest::TestRunStats&) override {
    print_slowest();
    for (const auto& [name, reasons] : outcome.skipped) {
      for (const std::string& reason : reasons) std::cout << "[skipped] " << name << ": " << reason << '\n';
    }
    for (const std::string& name : outcome.failed) std::cout << "[failed] " << name << '\n';
    std::cout << "crisol_tests: " << outcome.passed << " passed, " << outcome.failed.size() << " failed, "
              << outcome.skipped.size() << " skipped" << std::endl;
  }
};

REGISTER_LISTENER("summary", 1, Summary);

}  // namespace

void note_skip(const std::string& reason) { skip_reasons.insert(reason); }

bool slow_device() {
  static const bool slow = std::getenv("CRISOL_TEST_SLOW") != nullptr || Device().info().platform == "Oclgrind";
  return slow;
}

bool slow_launches() {
  static const bool slow = slow_device() || Device().info().platform == "rusticl";
  return slow;
}

}  // namespace crisol::testing
