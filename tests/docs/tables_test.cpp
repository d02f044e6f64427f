// The tables in the docs match docs/results.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "crisol/device.h"
#include "crisol/verification.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

TEST_CASE("docs: generated tables agree with their results") {
  if (Device().info().platform != "Portable Computing Language") CRISOL_SKIP("the same for all; done on PoCL");
  if (run_program("/usr/bin/env", {"python3", "--version"}).status != 0) CRISOL_SKIP("python3 is not installed");
  const ProcessResult result =
      run_program("/usr/bin/env", {"python3", CRISOL_SOURCE_DIR "/samples/cuda_vs_opencl/tables.py", "--check"});
  INFO(result.output);
  CHECK(result.status == 0);
}

TEST_CASE("docs: reports of drivers agree with the list of those on which the library does not verify variants") {
  int reports = 0;
  for (const auto& entry : std::filesystem::directory_iterator(CRISOL_SOURCE_DIR "/docs/results/verified")) {
    CAPTURE(entry.path().string());
    const nlohmann::json report = nlohmann::json::parse(read_file(entry.path().string()));
    const nlohmann::json& device = report.at("device");
    DeviceInfo info;
    info.platform = device.at("platform");
    info.driver_version = device.at("driver_version");
    for (const DeviceType type : {DeviceType::gpu, DeviceType::accelerator, DeviceType::cpu})
      if (name_of(type) == device.at("type")) info.type = type;
    CHECK(is_verified_driver(info) == device.at("verified_driver"));
    // A driver is on the list if all tests passed with it.
    const nlohmann::json& suite = report.at("suite");
    CHECK(is_verified_driver(info) == (suite.is_object() && suite.at("failed") == 0));
    ++reports;
  }
  CHECK(reports > 0);
}
