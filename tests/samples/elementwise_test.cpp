// The elementwise sample's output, at small sizes.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/program.h"
#include "support/skip.h"

namespace crisol {

namespace {

testing::ProcessResult run(const std::vector<std::string>& arguments) {
  return testing::run_built("elementwise", arguments);
}

}  // namespace

TEST_CASE("elementwise shows the generated code, and times and speeds of every form") {
  if (testing::built_program("elementwise").empty()) CRISOL_SKIP("the elementwise sample is not built");
  if (testing::slow_device()) CRISOL_SKIP("the simulator's times say nothing");
  const testing::ProcessResult result = run({"--elements", "10001", "--rounds", "1"});
  REQUIRE_MESSAGE(result.status == 0, result.output);
  for (const char* part : {"device: ", "10001 elements", "copy", "GB/s", "tanh", "x0 * x1", "eager", "fused + backward",
                           "sum(square(a - b))", "times as fast", "largest difference"})
    CHECK_MESSAGE(result.output.find(part) != std::string::npos, "\"" << part << "\" is not in: " << result.output);
  CHECK(result.output.find("nan") == std::string::npos);
}

TEST_CASE("a sample with --trace leaves a timeline, or says why it cannot") {
  if (testing::built_program("elementwise").empty()) CRISOL_SKIP("the elementwise sample is not built");
  if (testing::slow_device()) CRISOL_SKIP("the simulator is slow to start");
  const testing::TemporaryFolder folder;
  const std::string file = folder.path() + "/trace.json";
  const testing::ProcessResult result = run({"--elements", "1001", "--rounds", "1", "--trace", file});
  REQUIRE_MESSAGE(result.status == 0, result.output);
  const auto events = nlohmann::json::parse(testing::read_file(file));
  CHECK(std::any_of(events.begin(), events.end(), [](const auto& e) { return e.value("cat", "") == "kernel"; }));
  testing::check_fails(run({"--trace", folder.path() + "/no/trace.json"}), {"--trace", "[trace] cannot write"});
}

TEST_CASE("elementwise explains wrong command lines") {
  if (testing::built_program("elementwise").empty()) CRISOL_SKIP("the elementwise sample is not built");
  if (testing::slow_device()) CRISOL_SKIP("the simulator is slow to start");
  for (const auto& [argument, value] : {std::pair{"--elements", "0"}, {"--rounds", "none"}, {"--device", "no-such"}}) {
    const testing::ProcessResult result = run({argument, value});
    CHECK(result.status != 0);
    CHECK(result.status < 128);
    CHECK_MESSAGE(result.output.find(value) != std::string::npos, result.output);
  }
}

}  // namespace crisol
