// The search for NaN and infinity, forward and backward.
#include "crisol/autograd.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/reduce.h"
#include "crisol/fuse.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/launches.h"
#include "support/processes/subprocess.h"

using namespace crisol;
using crisol::testing::check_error;

namespace {

Tensor leaf(const std::vector<float>& values) { return from_vector(values).requires_grad_(); }

}  // namespace

TEST_CASE("anomalies: the first op whose result holds NaN or infinity is named") {
  const Tensor x = leaf({-1, 2, 3});
  CHECK_NOTHROW(log(x));
  const DetectAnomaly detect;
  CHECK(detects_anomaly());
  check_error([&] { sum(log(x) * 2); }, {"[log]", "(3)", "holds NaN or infinity", "its inputs do not"});
  check_error([] { div(ones({2, 3}), 0.0); }, {"[div]", "(2, 3)"});  // Not recorded, but checked.
  const auto fused = fuse([](const Expr& a) { return log(a) + 1; }, "log_plus");
  check_error([&] { fused(x); }, {"[log_plus]", "(3)"});
  check_error([&] { fused(x.detach()); }, {"[log_plus]", "(3)"});
  const Tensor given = full({2}, 1e39);
  check_error([&] { given * 2; }, {"[mul]", "input 0 of shape (2) held one before"});
  CHECK(sum(x * 2).item() == 8.0f);
  CHECK(gt(x, 0).to_vector<std::uint8_t>() == std::vector<std::uint8_t>{0, 1, 1});
}

TEST_CASE("anomalies: backward names the op, its input and its place") {
  const Tensor x = leaf({0, 4}), w = leaf({1, 1});
  const DetectAnomaly detect;
  const Tensor y = sum(sqrt(x * w) * 2);
  check_error([&] { y.backward(Tensor(), true); },
              {"[backward]", "the gradient of sqrt for its input 0 of shape (2)", "op 3 of 4"});
  CHECK_FALSE(x.grad().defined());
  check_error([&] { grad({y}, {x}); }, {"[grad]", "the gradient of sqrt"});
  check_error([&] { (x * 2).backward(full({2}, 1e39)); }, {"[backward]", "the given gradient", "(2)"});
}

TEST_CASE("anomalies: nothing is checked outside of the scope, and then no kernel more runs") {
  const Tensor x = leaf({0, 4});
  const auto step = [&] { sum(sqrt(x)).backward(); };
  step();
  const auto launches = testing::launches_of(step);
  {
    const DetectAnomaly detect;
    CHECK_THROWS_AS(step(), Error);
  }
  CHECK_FALSE(detects_anomaly());
  CHECK(testing::launches_of(step) == launches);
  set_detect_anomaly(true);
  CHECK_THROWS_AS(step(), Error);
  set_detect_anomaly(false);
  CHECK_NOTHROW(step());
}

TEST_CASE("child: anomalies are found by variable" * doctest::skip()) {
  CHECK(detects_anomaly());
  check_error([] { log(-ones({2})); }, {"[log]", "(2)"});
}

TEST_CASE("anomalies: CRISOL_DETECT_ANOMALY=1 searches in the whole process") {
  CHECK_PASSED(testing::run_child("child: anomalies are found by variable", {{"CRISOL_DETECT_ANOMALY", "1"}}));
}
