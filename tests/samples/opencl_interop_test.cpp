// The opencl_interop sample, as users run it.
#include "doctest/doctest.h"
#include "support/processes/program.h"
#include "support/skip.h"

using namespace crisol::testing;

TEST_CASE("opencl_interop: a kernel of its own between the library's ops, and the library in its context") {
  NEEDS_SAMPLE("opencl_interop");
  const ProcessResult result = run_built("opencl_interop", {});
  INFO(result.output);
  CHECK(result.status == 0);
  // The medians of rows 1 1 9 1 2 2 and -9 2 3 3 3 9, times ten.
  CHECK(contains(result.output, "[10., 10., 10., 20., 20., 20.]"));
  CHECK(contains(result.output, "[ 0., 20., 30., 30., 30., 90.]"));
  CHECK(contains(result.output, "largest pixel of a buffer of the program's: 9, after the median 9"));
  check_fails(run_built("opencl_interop", {"--device", "no such device"}), {"no such device"});
}
