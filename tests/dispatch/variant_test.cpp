// CRISOL_VARIANT and CRISOL_WORKSPACE_MB: their effects, and the values that they refuse. A process reads them once.
#include "crisol/tuning.h"

#include "crisol/ops/conv.h"
#include "crisol/ops/matmul.h"
#include "crisol/ops/reduce.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/processes/subprocess.h"

namespace crisol {

namespace {

using testing::check_error;

void check_child(const char* test_case, const testing::Environment& environment) {
  const testing::ProcessResult result = testing::run_child(test_case, environment);
  CHECK_PASSED(result);
}

Tensor sums() { return ops::cumsum(ones({2, 2}), 0); }

}  // namespace

TEST_CASE("variant_growth is 1 but for Winograd's tiles") {
  CHECK(variant_growth("conv2d", "winograd_f4") == 8);
  CHECK(variant_growth("conv2d_backward_data", "winograd_f2") == 2);
  CHECK(variant_growth("conv2d_backward_weight", "winograd") == 8);
  CHECK(variant_growth("conv2d", "block/64x64") == 1);
  CHECK(variant_growth("conv2d", "none") == 1);
  CHECK(variant_growth("none", "winograd") == 1);
}

TEST_CASE("child: CRISOL_VARIANT without a variant" * doctest::skip()) {
  for (int round = 0; round < 2; ++round)
    check_error([] { sums(); }, {"[CRISOL_VARIANT]", "'cumsum' is not of the form op:variant"});
}

TEST_CASE("child: CRISOL_VARIANT of a variant that does not exist" * doctest::skip()) {
  for (int round = 0; round < 2; ++round)
    check_error([] { sums(); },
                {"[CRISOL_VARIANT]", "no such variant of cumsum: 'itms'", "there are: items, ", "rows", "groups"});
}

TEST_CASE("child: CRISOL_VARIANT of an op that does not exist" * doctest::skip()) {
  for (int round = 0; round < 2; ++round)
    check_error([] { sums(); }, {"[CRISOL_VARIANT]", "no op 'conv2' with variants", "there are: conv2d, ", "softmax"});
}

TEST_CASE("child: CRISOL_VARIANT of a configuration that does not exist" * doctest::skip()) {
  check_error([] { ops::matmul(ones({2, 2}), ones({2, 2})); }, {"[matmul]", "variant block/none", "no such variant"});
}

TEST_CASE("child: CRISOL_VARIANT that leaves none" * doctest::skip()) {
  check_error([] { sums(); }, {"[cumsum]", "forbids every variant"});
}

TEST_CASE("child: CRISOL_VARIANT that forces the last" * doctest::skip()) {
  testing::check_close(sums(), {1, 1, 2, 2}, {0});
  const ForcedVariant inner("cumsum", "none");  // The thread's setting wins.
  check_error([] { sums(); }, {"variant none"});
}

TEST_CASE("CRISOL_VARIANT forces and forbids variants, or is refused by name") {
  check_child("child: CRISOL_VARIANT without a variant", {{"CRISOL_VARIANT", "matmul:plain,cumsum"}});
  check_child("child: CRISOL_VARIANT of a variant that does not exist", {{"CRISOL_VARIANT", "cumsum:itms"}});
  check_child("child: CRISOL_VARIANT of a variant that does not exist", {{"CRISOL_VARIANT", "cumsum:-itms"}});
  check_child("child: CRISOL_VARIANT of an op that does not exist", {{"CRISOL_VARIANT", "cumsum:items,conv2:x"}});
  check_child("child: CRISOL_VARIANT of a configuration that does not exist",
              {{"CRISOL_VARIANT", "matmul:block/none"}});
  check_child("child: CRISOL_VARIANT that leaves none",
              {{"CRISOL_VARIANT", "cumsum:-rows,cumsum:-columns,cumsum:-groups,cumsum:-items"}});
  check_child("child: CRISOL_VARIANT that forces the last", {{"CRISOL_VARIANT", "cumsum:items"}});
}

TEST_CASE("child: CRISOL_WORKSPACE_MB that is no number" * doctest::skip()) {
  for (int round = 0; round < 2; ++round)
    check_error([] { ops::workspace_limit(); }, {"[CRISOL_WORKSPACE_MB]", "is not a number of megabytes"});
}

TEST_CASE("child: CRISOL_WORKSPACE_MB of 1.5" * doctest::skip()) { CHECK(ops::workspace_limit() == 1'500'000); }

TEST_CASE("CRISOL_WORKSPACE_MB sets the limit, or is refused by name") {
  for (const char* text : {"many", "1.5 MB", "-1", "1e300", "nan"}) {
    CAPTURE(std::string(text));
    check_child("child: CRISOL_WORKSPACE_MB that is no number", {{"CRISOL_WORKSPACE_MB", text}});
  }
  check_child("child: CRISOL_WORKSPACE_MB of 1.5", {{"CRISOL_WORKSPACE_MB", "1.5"}});
}

}  // namespace crisol
