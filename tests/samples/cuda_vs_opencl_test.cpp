// The cuda_vs_opencl sample: the sides that every machine has, at small sizes.
#include <nlohmann/json.hpp>

#include "doctest/doctest.h"
#include "support/processes/program.h"
#include "support/skip.h"

using namespace crisol::testing;

TEST_CASE("cuda_vs_opencl: OpenCL and crisol compute every task rightly, and what cannot run has a reason") {
  NEEDS_SAMPLE("cuda_vs_opencl");
  const ProcessResult result = run_built("cuda_vs_opencl", {"--small", "--json", "-"});
  INFO(result.output);
  REQUIRE(result.status == 0);
  CHECK_FALSE(contains(result.output, "WRONG"));
  const nlohmann::json json = nlohmann::json::parse(result.out);  // It holds nothing else.
  for (const char* side : {"OpenCL", "crisol"}) {
    CHECK(json.at("sides").contains(side));
    int tasks = 0;
    for (const auto& run : json.at("runs")) {
      if (run.at("side") != side) continue;
      ++tasks;
      CHECK(run.at("ms").get<double>() > 0);
      CHECK(run.at("error").get<double>() < 1e-5);
    }
    CHECK(tasks == 5);
  }
  for (const char* side : {"CUDA C++", "cuBLAS, cuDNN"})
    CHECK(json.at("sides").contains(side) != (json.at("not_run").value(side, "") != ""));
}

TEST_CASE("cuda_vs_opencl: wrong arguments are named") {
  NEEDS_SAMPLE("cuda_vs_opencl");
  check_fails(run_built("cuda_vs_opencl", {"--device", "no such device"}), {"no such device"});
  check_fails(run_built("cuda_vs_opencl", {"--small", "--weights", "none.safetensors"}), {"none.safetensors"});
  check_fails(run_built("cuda_vs_opencl", {"--small", "--json", "/no/such/folder/runs.json"}),
              {"cannot write /no/such/folder/runs.json"});
}
