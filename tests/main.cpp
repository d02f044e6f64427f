// crisol_tests: prints the device on which it runs. It refuses to run on another device than
// CRISOL_TEST_EXPECT_PLATFORM names (a case-insensitive part of the platform's name), so that no result counts for the
// wrong implementation.
#define DOCTEST_CONFIG_IMPLEMENT
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "crisol/device.h"
#include "dispatch/choose.h"
#include "doctest/doctest.h"
#include "support/coverage.h"
#include "support/subprocess.h"

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

/// CRISOL_TEST_REFUSE=op:variant lets that variant refuse every problem. The cases that need it have to fail then.
void refuse_as_asked() {
  const char* const asked = std::getenv("CRISOL_TEST_REFUSE");
  if (asked == nullptr) return;
  const std::string text = asked;
  const std::size_t colon = text.find(':');
  crisol::dispatch::refuse_always(text.substr(0, colon), text.substr(colon + 1));
}

/// In a run of all tests, every variant that the device could take must have run. CRISOL_TEST_ALL_VARIANTS=1 asks for
/// this check. A process that a test starts has arguments, and checks nothing.
bool all_variants_ran(bool all_tests) {
  if (!all_tests || std::getenv("CRISOL_TEST_ALL_VARIANTS") == nullptr) return true;
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
  if (!is_expected_device()) return 2;
  refuse_as_asked();
  const char* const statements = std::getenv("CRISOL_TEST_STATEMENTS");
  const std::string statements_file = statements == nullptr ? "" : statements;
  set_variable("CRISOL_TEST_STATEMENTS", "");  // Processes that tests start write no statements.
  const int status = doctest::Context(argc, argv).run();
  if (!statements_file.empty()) crisol::testing::write_statements(statements_file);
  return all_variants_ran(argc == 1) ? status : 1;
}
