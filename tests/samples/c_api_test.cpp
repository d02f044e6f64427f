// The c_api sample, as users run it.
#include "doctest/doctest.h"
#include "support/processes/program.h"
#include "support/skip.h"

using namespace crisol::testing;

TEST_CASE("c_api: a line is fitted and a digit classified, from C") {
  NEEDS_SAMPLE("c_api");
  const ProcessResult result = run_built("c_api", {});
  INFO(result.output);
  CHECK(result.status == 0);
  CHECK(contains(result.output, "line: y = 2.000 x -1.000"));
  CHECK(contains(result.output, "untrained"));
  check_fails(run_built("c_api", {"--device", "no such device"}), {"no such device"});
  check_fails(run_built("c_api", {"/no/such/file"}), {"/no/such/file"});
  check_fails(run_built("c_api", {"--nonsense"}), {"usage"});
}
