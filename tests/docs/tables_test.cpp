// The tables of the docs are what docs/results holds.
#include "crisol/device.h"
#include "doctest/doctest.h"
#include "support/skip.h"
#include "support/subprocess.h"

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
