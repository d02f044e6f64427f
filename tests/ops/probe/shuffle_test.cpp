// Exchange within sub-groups, and the probe that allows it.
#include "ops/probe/shuffle.h"

#include "crisol/ops/probe.h"
#include "doctest/doctest.h"
#include "ops/probe/shuffle_probe.h"
#include "support/compare.h"
#include "support/skip.h"

using namespace crisol;

TEST_CASE("shuffle: the items of a sub-group see each other's numbers") {
  runtime::DeviceState& device = Device().state();
  runtime::Defines defines;
  ops::add_shuffle_define(defines, dispatch::target_of(device), 64);
  if (defines.begin() == defines.end()) CRISOL_SKIP("no sub-groups that kernels are told of");
  CHECK(ops::shuffles_rightly(device, defines));
}

TEST_CASE("shuffle: without sub-groups nothing is seen, and the probe tells") {
  if (Device().info().type != DeviceType::cpu) CRISOL_SKIP("AMD's compiler needs no telling");
  CHECK(!ops::shuffles_rightly(Device().state(), {}));
}

TEST_CASE("assume_probes refuses what no probe finds") {
  testing::check_error(
      [] {
        ops::assume_probes(Device(), {{"swizzle", "amd"}});
      },
      {"[assume_probes]", "there is no probe 'swizzle'"});
  testing::check_error(
      [] {
        ops::assume_probes(Device(), {{"shuffle", "mma_sm80"}});
      },
      {"[assume_probes]", "shuffle cannot find 'mma_sm80'"});
  testing::check_error([] { ops::assume_probes(Device(), {{"matrix_fp16", "none"}}); }, {"cannot find 'none'"});
}
