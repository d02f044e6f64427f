// Modules that move between two devices of one process.
#include "support/two_devices.h"
#include "crisol/functions/reduce.h"
#include "crisol/nn/linear.h"
#include "crisol/nn/norm.h"
#include "crisol/nn/sequential.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/processes/subprocess.h"

namespace crisol {

namespace {

using testing::check_close;
using testing::check_error;
using testing::values_of;

Device other_device() {
  for (const Device device : devices())
    if (device != Device()) return device;
  FAIL("there is only one device");
  return Device();
}

}  // namespace

TEST_CASE("child: two devices: every handle of a module's tensors moves" * doctest::skip()) {
  const Device other = other_device();
  const auto make = [] { return nn::Sequential(nn::Linear(3, 2), nn::BatchNorm2d(2)); };
  nn::Sequential net = make();
  const Tensor x = testing::tensor_of({1, 2, 3, 3, 1, 2}, {2, 3});
  net.eval();
  sum(net(x)).backward();
  const Tensor expected = net(x), weight = net.parameters()[0];
  net.to(other);
  for (const auto& [name, tensor] : net.state_dict()) CHECK(tensor.device() == other);
  CHECK(weight.device() == other);
  CHECK(weight.grad().device() == other);
  const Tensor y = net(x.to(other));
  CHECK(y.device() == other);
  check_close(y, values_of(expected), {8, 4});  // Two devices may add in different orders.
  sum(y).backward();
  CHECK(weight.grad().device() == other);
  check_error([&] { net(x); }, {"[linear]", Device().name(), other.name()});
  // A state from one device loads on the other.
  nn::Sequential home = make();
  home.eval();
  home.load_state_dict(net.state_dict());
  CHECK(home.parameters()[0].device() == Device());
  check_close(home(x), values_of(expected), {0});
}

TEST_CASE("child: two devices: a module that does not fit stays where it is" * doctest::skip()) {
  const Device other = other_device();
  nn::Sequential net(nn::Linear(3, 2), nn::Linear(2, 200000));
  sum(net(ones({1, 3}))).backward();
  other.set_memory_limit(1 << 17);  // Bytes: enough for the first layer.
  check_error([&] { net.to(other); }, {}, ErrorCode::out_of_memory);
  for (const Tensor& p : net.parameters()) {
    CHECK(p.device() == Device());
    CHECK(p.grad().defined());
  }
  other.set_memory_limit(0);
  net.to(other);
  for (const Tensor& p : net.parameters()) CHECK(p.device() == other);
}

TEST_CASE("child: two devices: BatchNorm2d goes on counting, whatever was loaded after the move" * doctest::skip()) {
  const Device other = other_device();
  const Tensor x = testing::tensor_of(testing::random_values(1, 20), {5, 2, 2, 1});
  for (int steps = 0; steps < 4; ++steps) {
    CAPTURE(steps);
    nn::BatchNorm2d layer(2), saved(2);
    for (int step = 0; step < steps; ++step) layer(x);
    layer.to(other);
    layer(x.to(other));
    CHECK(layer.num_batches_tracked.item<std::int64_t>() == steps + 1);
    layer.to(Device());
    saved.num_batches_tracked.fill_(100);
    layer.load_state_dict(saved.state_dict());
    layer(x);
    CHECK(layer.num_batches_tracked.item<std::int64_t>() == 101);
  }
}

TEST_CASE("modules on two devices of one process") {
  NEEDS_TWO_DEVICES();
  const testing::ProcessResult result = testing::run_child("child: two devices:*", {{"POCL_DEVICES", "pthread basic"}});
  CHECK_MESSAGE(result.output.find("crisol_tests: 3 passed, 0 failed, 0 skipped") != std::string::npos, result.output);
}

}  // namespace crisol
