// crisol_tests: prints the device on which it runs. It refuses to run on another device than
// CRISOL_TEST_EXPECT_PLATFORM names (a case-insensitive part of the platform's name), so that no result counts for the
// wrong implementation.
#define DOCTEST_CONFIG_IMPLEMENT
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "crisol/device.h"
#include "dispatch/choose.h"
#include "doctest/doctest.h"
#include "graph/spec.h"
#include "support/coverage.h"
#include "support/processes/subprocess.h"

namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// Whether the default device is on the expected platform. If nothing is expected, any device is accepted, or none.
bool is_expected_device() {
  const char* expected = std::getenv("CRISOL_TEST_EXPECT_PLATFORM");
  try {
    const crisol::Device device;
    const crisol::DeviceInfo& info = device.info();
    std::cout << "device: " << info.name << " | platform: " << info.platform << " | driver: " << info.driver_version
              << " | chosen by: " << crisol::default_device_reason() << std::endl;
    if (expected == nullptr || lower(info.platform).find(lower(expected)) != std::string::npos) return true;
    std::cout << "crisol_tests: expected a platform with \"" << expected << "\" in its name" << std::endl;
    return false;
  } catch (const std::exception& error) {
    std::cout << "no device: " << error.what() << std::endl;
    return expected == nullptr;
  }
}

/// CRISOL_TEST_REFUSE=op:variant lets that variant refuse every problem, and op:variant:3 lets it take three problems
/// before. The cases that need it have to fail then.
void forbid_as_asked() {
  const char* const asked = std::getenv("CRISOL_TEST_REFUSE");
  if (asked == nullptr) return;
  std::istringstream text(asked);
  std::string op, variant;
  std::int64_t taken = 0;
  std::getline(text, op, ':');
  std::getline(text, variant, ':');
  text >> taken;
  crisol::dispatch::refuse_after(op, variant, taken);
}

/// The value of a variable of the environment, which processes that tests start do not see.
std::string take_variable(const char* name) {
  const char* const value = std::getenv(name);
  const std::string taken = value == nullptr ? "" : value;
  crisol::testing::set_variable(name, "");
  return taken;
}

/// Whether the short cases of the ops ran every variant that the device could take.
bool all_variants_ran() {
  const std::vector<std::string> never = crisol::testing::variants_never_run();
  for (const std::string& variant : never) std::cout << "[failed] never ran: " << variant << std::endl;
  return never.empty();
}

}  // namespace

int main(int argc, char** argv) {
  using crisol::testing::set_variable;
  set_variable("CRISOL_PRECISION", "");  // The tests' bounds are for fp32.
  // The variants that run must not depend on measurements on this machine, or on variants found wrong here.
  if (std::getenv("CRISOL_TUNING") == nullptr) set_variable("CRISOL_TUNING", "0");
  if (std::getenv("CRISOL_VERIFY") == nullptr) set_variable("CRISOL_VERIFY", "off");
  crisol::graph::checks_graphs = true;
  if (!is_expected_device()) return 2;
  forbid_as_asked();
  const std::string statements = take_variable("CRISOL_TEST_STATEMENTS");
  const bool wants_all_variants = !take_variable("CRISOL_TEST_ALL_VARIANTS").empty();
  const int status = doctest::Context(argc, argv).run();
  if (!statements.empty()) crisol::testing::write_statements(statements);
  return !wants_all_variants || all_variants_ran() ? status : 1;
}
