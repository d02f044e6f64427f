// The devices sample, as users run it.
#include "crisol/device.h"
#include "doctest/doctest.h"
#include "support/processes/program.h"
#include "support/skip.h"

using namespace crisol::testing;

TEST_CASE("devices: lists, places, moves, waits") {
  NEEDS_SAMPLE("devices");
  if (few_images_only()) CRISOL_SKIP("its matrix products take half a minute here");
  const ProcessResult result = run_built("devices", {});
  INFO(result.output);
  CHECK(result.status == 0);
  for (const char* part : {"the default: ", "try_gpu(9): ", "try_all(): ", "shares its memory: yes",
                           "as a thousand: ", "printing waited", "0.weight (8, 4): device "})
    CHECK_MESSAGE(contains(result.output, part), part);
  CHECK(contains(result.output, crisol::Device().name()));
  // With two devices, an op over both fails with an error. With one device, the sample says so.
  CHECK(contains(result.output, "one device only") != contains(result.output, "a + b: ["));
  check_fails(run_built("devices", {"--device", "no such device"}), {"no such device"});
}
