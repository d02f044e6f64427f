// Captures whose commands run in the first replay, and whose tensors share memory.
#include "tensor/capture_planned.h"

#include <cmath>
#include <stdexcept>
#include <vector>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/compare.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

constexpr Tolerance rounding{32};

/// 8 ops in a row, so 7 tensors that only the next op reads.
Tensor chain(Tensor x) {
  for (int i = 0; i < 8; ++i) x = (i % 2 == 0 ? x * 1.25 : x - 0.5);
  return x;
}

std::vector<double> chain(std::vector<double> values) {
  for (double& x : values)
    for (int i = 0; i < 8; ++i) x = i % 2 == 0 ? x * 1.25 : x - 0.5;
  return values;
}

}  // namespace

TEST_CASE("planned capture: nothing runs before the first replay, and a chain needs the memory of two tensors") {
  constexpr std::int64_t count = 100'000;
  const NoGrad no_grad;
  const Device device;
  Tensor x = zeros({count});
  Tensor y;
  device.synchronize();
  device.release_cached_memory();
  const MemoryStats before = device.memory_stats();
  const CapturedGraph graph = capture_planned([&] { y = chain(x); }, device);
  const MemoryStats after = device.memory_stats();
  CHECK(graph.size() == 8);
  CHECK(after.captured >= 2 * 4 * count);
  CHECK(after.captured + (after.in_use - before.in_use) <= 4 * 4 * count);
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const std::vector<double> values = random_values(seed, count);
    x.copy_from(tensor_of(values, {count}));
    graph.replay();
    check_close(y, chain(values), rounding);
  }
}

TEST_CASE("planned capture: results, fills, copies and tensors that are kept") {
  constexpr std::int64_t rows = 37, columns = 29;
  const NoGrad no_grad;
  Tensor x = zeros({rows, columns}), target = zeros({rows, columns});
  Tensor kept, sums, unused, filled;
  const CapturedGraph graph = capture_planned(
      [&] {
        const Tensor doubled = x * 2, ones_only = ones({rows, columns});
        kept = doubled + ones_only;
        sums = chain(doubled).sum(0);
        target.copy_from(chain(kept));
        Tensor padded = zeros({rows + 2, columns});
        padded[{Slice(1, rows + 1)}] = kept;
        filled = padded * 3;
        unused = empty({5});
      },
      Device());
  for (std::uint64_t seed = 5; seed < 7; ++seed) {
    CAPTURE(seed);
    const std::vector<double> values = random_values(seed, rows * columns);
    x.copy_from(tensor_of(values, {rows, columns}));
    graph.replay();
    std::vector<double> doubled, expected, tripled(columns), of_columns(columns);
    for (const double value : values) {
      doubled.push_back(2 * value);
      expected.push_back(2 * value + 1);
      tripled.push_back(3 * expected.back());
    }
    tripled.resize((rows + 2) * columns);
    const std::vector<double> chained = chain(doubled);
    for (std::size_t i = 0; i < chained.size(); ++i) of_columns[i % columns] += chained[i];
    check_close(kept, expected, rounding);
    check_close(sums, of_columns, rounding);
    check_close(target, chain(expected), rounding);
    check_close(filled, tripled, rounding);
  }
  unused.fill_(1);
  CHECK(unused.sum().item<float>() == 5);
}

TEST_CASE("planned capture: a weight that the work computes is packed in each replay") {
  const NoGrad no_grad;
  Tensor x = zeros({1, 64, 12, 12});
  Tensor y;
  const CapturedGraph graph = capture_planned([&] { y = conv2d(x, ones({64, 64, 3, 3})); }, Device());
  for (const double value : {0.5, -1.0}) {
    x.fill_(value);
    graph.replay();
    check_close(y, std::vector<double>(64 * 100, 64 * 9 * value), rounding);
  }
}

TEST_CASE("planned capture: an error leaves nothing, and no memory") {
  const NoGrad no_grad;
  const Device device;
  const Tensor x = ones({1000});
  const std::uint64_t in_use = device.memory_stats().in_use;
  CHECK_THROWS_AS(capture_planned(
                      [&] {
                        const Tensor y = chain(x);
                        throw std::runtime_error("the work fails");
                      },
                      device),
                  std::runtime_error);
  CHECK(device.memory_stats().in_use == in_use);
  CHECK(device.memory_stats().captured == 0);
  CHECK((x + 1).sum().item<float>() == 2000);
}
