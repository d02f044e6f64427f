// Ops refuse operands on two devices and leave the operands unchanged.
#include "support/two_devices.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/matmul.h"
#include "crisol/fuse.h"
#include "crisol/nn/rnn.h"
#include "crisol/ops/cat.h"
#include "crisol/ops/dropout.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/optimizer.h"
#include "crisol/ops/pool.h"
#include "crisol/ops/sampling.h"
#include "crisol/optim.h"
#include "crisol/random.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/processes/subprocess.h"

namespace crisol {

namespace {

using testing::check_close;
using testing::check_error;

}  // namespace

TEST_CASE("child: ops on two devices" * doctest::skip()) {
  REQUIRE(devices().size() == 2);
  const Device other = devices()[devices()[0] == Device() ? 1 : 0];
  Tensor x = ones({2, 2}), y = full({2, 2}, 3, DType::f32, other);
  const Generator far(1, other);
  const auto refused = [&](const char* op, const std::function<void()>& call) {
    CAPTURE(op);
    check_error(call, {std::string("[") + op + "]", Device().name(), other.name()});
  };
  refused("cat", [&] { ops::cat({x, y}); });
  refused("stack", [&] { ops::stack({x, y}); });
  refused("dropout", [&] { ops::dropout(x, 0.5, far); });
  refused("multinomial", [&] { ops::multinomial(x, 1, true, far); });
  refused("sample_logits", [&] { ops::sample_logits(x, 1, 0, far); });
  refused("uniform_", [&] { uniform_(x, 0, 1, far); });
  refused("global_norm", [&] { ops::global_norm({x, y}); });
  refused("scale_by_clip", [&] { ops::scale_by_clip(x, ones({}, DType::f32, other), 1); });
  refused("add", [&] { add(x, y); });
  refused("SGD", [&] { optim::SGD({x.clone().requires_grad_(), y.clone().requires_grad_()}, {0.1}); });
  refused("max_pool2d_backward", [&] {
    ops::max_pool2d_backward(ones({1, 1, 1, 1}), zeros({1, 1, 1, 1}, DType::i32, other), {1, 1, 2, 2}, {2});
  });
  nn::LSTM lstm(2, 2);
  refused("LSTM", [&] { lstm.forward(ones({1, 1, 2}), {ones({1, 1, 2}, DType::f32, other), ones({1, 1, 2})}); });
  static const auto plus = fuse([](const Expr& a, const Expr& b) { return a + b; });
  refused("linear", [&] { linear(x, x, Tensor(), plus.epilogue(y)); });
  refused("accumulate_into", [&] { ops::accumulate_into(x, y); });
  refused("fuse", [&] { fuse([](const Expr& a, const Expr& b) { return a * b; })(x, y); });
  const Tensor hyper = ops::make_hyper(other);
  refused("sgd_step", [&] { ops::sgd_step(x, ones({2, 2}), Tensor(), hyper, ops::make_progress(Device())); });
  check_close(x, {1, 1, 1, 1}, {0});
  check_close(y, {3, 3, 3, 3}, {0});
}

TEST_CASE("ops refuse operands on two devices") {
  NEEDS_TWO_DEVICES();
  const testing::ProcessResult result =
      testing::run_child("child: ops on two devices", {{"POCL_DEVICES", "pthread basic"}});
  CHECK_PASSED(result);
}

}  // namespace crisol
