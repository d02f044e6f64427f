// Dry runs: functions that only find out the sizes of their results.
#include "runtime/dry_run.h"

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "runtime/capture/capture.h"
#include "runtime/device/device_state.h"
#include "support/compare.h"
#include "tensor/kernel_args.h"

using namespace crisol;
using namespace crisol::testing;

TEST_CASE("dry run: sizes without kernels") {
  const Tensor a = randn({3, 5}), b = randn({5, 4});
  const Profile profile;
  Tensor y;
  {
    const runtime::DryRun dry_run;
    y = relu(matmul(a, b)) + full({4}, 2.0);
    CHECK(y.shape() == Shape{3, 4});
    CHECK_THROWS_WITH_AS(static_cast<void>(matmul(a, a)), doctest::Contains("matmul"), Error);
    CHECK_FALSE(dry_run.needed_values());
  }
  CHECK(profile.rows().empty());
}

TEST_CASE("dry run: no kernel is built") {
  const Tensor x = zeros({8});
  runtime::DeviceState& device = Device().state();
  const auto launch = [&] {
    constexpr std::int64_t words = 4, chunk = 4096;
    runtime::launch(device, {"runtime/fill.cl", "fill_words", {{"ONLY_IN_THIS_TEST", 1}}}, {{1}, {1}}, out(x),
                    std::uint64_t{0}, words, chunk);
  };
  const std::size_t before = device.programs().program_count();
  {
    const runtime::DryRun dry_run;
    launch();
  }
  CHECK(device.programs().program_count() == before);
  launch();
  CHECK(device.programs().program_count() == before + 1);
}

TEST_CASE("dry run: values that are not there are refused, and others are read") {
  const Tensor a = full({3}, 2.0);
  const runtime::DryRun dry_run;
  CHECK(a.to_vector<float>() == std::vector<float>{2, 2, 2});
  CHECK(from_vector(std::vector<float>{4, 5}).to_vector<float>() == std::vector<float>{4, 5});
  CHECK_FALSE(dry_run.needed_values());
  const Tensor sum = a + a;
  CHECK_THROWS_WITH_AS(sum.to_vector<float>(), doctest::Contains("only sizes are computed"), Error);
  CHECK(dry_run.needed_values());
  const runtime::PauseCapture pause;
  CHECK((a + a).to_vector<float>() == std::vector<float>{4, 4, 4});
}
