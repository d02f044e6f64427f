// crisol_tests: says which device it runs on, and refuses to run on another one than CRISOL_TEST_EXPECT_PLATFORM names
// (a case-insensitive part of the platform's name), so that no result is credited to the wrong implementation.
#define DOCTEST_CONFIG_IMPLEMENT
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

#include "crisol/device.h"
#include "doctest/doctest.h"
#include "support/subprocess.h"

namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// Whether the default device is on the expected platform; any device, or none, will do when nothing is expected.
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

}  // namespace

int main(int argc, char** argv) {
  using crisol::testing::set_variable;
  set_variable("CRISOL_PRECISION", "");  // The bounds are those of fp32.
  // Which variants run must not depend on what somebody measured here, or on what was found to be wrong.
  if (std::getenv("CRISOL_TUNING") == nullptr) set_variable("CRISOL_TUNING", "0");
  if (std::getenv("CRISOL_VERIFY") == nullptr) set_variable("CRISOL_VERIFY", "off");
  if (!is_expected_device()) return 2;
  return doctest::Context(argc, argv).run();
}
