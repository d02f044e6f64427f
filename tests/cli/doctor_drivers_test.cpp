// `crisol doctor`: drivers that a variable of OpenCL's loader names, on every system.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "doctest/doctest.h"
#include "support/processes/program.h"
#include "support/skip.h"

using namespace crisol::testing;

TEST_CASE("crisol doctor: libraries of OCL_ICD_FILENAMES that are not there, or no implementation") {
  NEEDS_CRISOL();
  if (few_images_only()) CRISOL_SKIP("its selftest takes long here");
  const bool windows = std::filesystem::path::preferred_separator == '\\';
  const TemporaryFolder empty;
  const std::string gone = empty.path() + (windows ? "\\gone.dll" : "/gone.so"),
                    other = windows ? "kernel32.dll" : "libstdc++.so.6";
  std::string libraries = gone;
  libraries += windows ? ';' : ':';
  libraries += other;
  const ProcessResult result =
      run_built("crisol", {"doctor", "--json"}, {{"OCL_ICD_VENDORS", empty.path()}, {"OCL_ICD_FILENAMES", libraries}});
  INFO(result.output);
  CHECK(result.status == 1);
  const nlohmann::json report = nlohmann::json::parse(result.out), &opencl = report.at("opencl");
  std::string problems;
  for (const auto& problem : report.at("problems")) problems += problem.at("problem").get<std::string>() + '\n';
  // The report hides the user's home, where Windows has its temporary files.
  CHECK(contains(problems, gone.substr(gone.rfind("crisol-test-")) + " cannot be loaded: "));
  CHECK(contains(problems, other + " is no OpenCL implementation: it has no clIcdGetPlatformIDsKHR"));
  CHECK(opencl.at("implementations").size() >= 2);
  CHECK(opencl.at("loader").at("path") != "unknown");
}
