// Ranks with devices of different kinds, whose steps are rounded differently. tests/dist/run.sh starts these test cases
// on devices of two vendors. Where all ranks have devices of one kind, the same steps give the same bits.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "crisol/crisol.h"
#include "crisol/dist.h"
#include "dist/parts.h"
#include "doctest/doctest.h"
#include "support/compare.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

bool devices_differ() {
  const DeviceInfo& info = Device().info();
  const std::size_t own = std::hash<std::string>()(info.platform + info.name + info.driver_version);
  const Tensor all = dist::all_gather(from_vector(std::vector<std::int64_t>{static_cast<std::int64_t>(own)}));
  const std::vector<std::int64_t> hashes = all.to_vector<std::int64_t>();
  return std::count(hashes.begin(), hashes.end(), hashes[0]) != dist::world();
}

/// How far the elements of x on this rank are from those on rank 0.
double distance_from_first(const Tensor& x) {
  Tensor first = x.detach().clone();
  dist::broadcast(first);
  return (x.detach() - first).abs().max().item<double>();
}

void scale_on_last_rank(Tensor x, double factor) {
  const NoGrad no_grad;
  if (dist::rank() == dist::world() - 1) x.mul_(factor);
}

}  // namespace

TEST_CASE("dist: ranks on different devices take the weights of rank 0, where rounding alone made them differ") {
  if (dist::world() == 1) return;
  nn::Linear net(30, 20);
  dist::DataParallel model(net);
  const std::string last = std::to_string(dist::world() - 1);
  scale_on_last_rank(net.weight, 1 + 1e-6);
  if (devices_differ()) {
    model.check_weights();
    CHECK(distance_from_first(net.weight) == 0);
    scale_on_last_rank(net.weight, 1.1);
    scale_on_last_rank(net.bias, 1 + 1e-6);
  }
  check_error([&] { model.check_weights(); }, {"differ from those of rank 0: weight of rank " + last});
}

TEST_CASE("dist: a long training with Adam keeps the weights of all ranks together") {
  manual_seed(11);
  nn::Linear first(24, 40), second(40, 6);
  nn::Sequential net(first, nn::ReLU(), second);
  optim::Adam optimizer(net.parameters(), 1e-2);
  dist::DataParallel model(net, {.check_every = 50});
  manual_seed(100 + static_cast<std::uint64_t>(dist::rank()));
  for (int step = 0; step < 310; ++step) {
    const Tensor x = randn({8, 24}), target = randn({8, 6});
    optimizer.zero_grad();
    mse_loss(model(x), target).backward();
    optimizer.step();
  }
  for (const Tensor& parameter : net.parameters()) {
    const double distance = distance_from_first(parameter);
    CHECK(distance < 1e-4);
    if (!devices_differ()) CHECK(distance == 0);
  }
}
