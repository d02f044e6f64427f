// Tensors of host values on devices that compute in the host's memory.
#include "runtime/memory/host_memory.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "runtime/device/device_state.h"
#include "runtime/memory/transfer.h"
#include "support/compare.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

std::vector<float> numbers(std::int64_t count, float first) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<float>(i % 1000);
  return values;
}

}  // namespace

TEST_CASE("values of the host, may change after the call") {
  const Device device;
  const std::uint64_t before = device.memory_stats().in_use;
  for (const std::int64_t count : {16383, 16384, 20001, 1 << 20, (1 << 20) + 1})
    for (int round = 0; round < 3; ++round) {
      CAPTURE(count);
      const std::vector<float> expected = numbers(count, static_cast<float>(round));
      std::vector<float> values = expected;
      const Tensor x = from_vector(values, {count});
      CHECK(device.memory_stats().in_use >= before + static_cast<std::uint64_t>(4 * count));
      const Tensor y = x + 1;
      std::fill(values.begin(), values.end(), -1.0F);
      CHECK(x.to_vector<float>() == expected);
      CHECK(y.to_vector<float>() == numbers(count, static_cast<float>(round) + 1));
    }
  CHECK(device.memory_stats().in_use == before);
}

TEST_CASE("memory of host values is used again only when no queued kernel reads it") {
  const std::int64_t count = 100'000;
  std::vector<Tensor> sums;
  for (int i = 0; i < 50; ++i) sums.push_back((from_vector(numbers(count, static_cast<float>(i)), {count}) * 2).sum());
  for (int i = 0; i < 50; ++i)
    CHECK(sums[static_cast<std::size_t>(i)].item<float>() ==
          doctest::Approx(2.0 * (499.5 + i) * static_cast<double>(count)).epsilon(1e-6));
}

TEST_CASE("a graph that reads host values keeps their memory") {
  const NoGrad no_grad;
  const std::int64_t count = 30'000;
  Tensor y = zeros({count});
  std::optional<CapturedGraph> graph;
  {
    const Tensor x = from_vector(numbers(count, 5), {count});
    graph.emplace(capture([&] { y.copy_from(x * 3); }));
  }
  const Tensor other = from_vector(numbers(count, 900), {count});
  y.zero_();
  graph->replay();
  CHECK(y[7].item<float>() == 36);
  graph.reset();
  CHECK(other[7].item<float>() == 907);
}

TEST_CASE("the host writes only to free memory that no queued command uses") {
  runtime::DeviceState& device = Device().state();
  runtime::MemoryPool& pool = device.pool();
  constexpr std::uint64_t bytes = 131'072;
  const auto is_idle = [&] { return pool.allocate_idle(bytes, {}) != nullptr; };
  device.finish();
  pool.release_cached();
  CHECK_FALSE(is_idle());
  runtime::allocate(device, bytes).reset();
  CHECK_FALSE(is_idle());  // Nothing waited since it became free.
  device.finish();
  {
    const runtime::BlockPtr idle = pool.allocate_idle(bytes, {});
    REQUIRE(idle != nullptr);
    CHECK(idle->bytes() == bytes);
    CHECK_FALSE(is_idle());
  }
  CHECK_FALSE(is_idle());
  runtime::BlockPtr block = runtime::allocate(device, bytes);
  const std::uint64_t wait = pool.begin_wait();
  block.reset();
  pool.end_wait(wait);
  CHECK_FALSE(is_idle());  // The wait began earlier.
  runtime::read(*runtime::allocate(device, 512), 0, std::vector<char>(4).data(), 4);
  CHECK(is_idle() == (device.info().type == DeviceType::cpu));
}
