#include "runtime/memory_pool.h"

#include "crisol/error.h"
#include "crisol/tensor.h"
#include "doctest/doctest.h"
#include "tensor/impl.h"

using namespace crisol;

TEST_CASE("the pool's figures follow the tensors, and end at zero") {
  const Device device;
  device.release_cached_memory();  // Otherwise a larger cached block may be used.
  const std::uint64_t before = device.memory_stats().in_use;
  {
    const Tensor a = empty({1000});
    const std::uint64_t with_a = device.memory_stats().in_use;
    CHECK(with_a >= before + 4000);
    CHECK(with_a <= before + 4500);  // Rounded up by at most an eighth.
    const Tensor view = make_view(a, {10}, {1}, 5);
    CHECK(device.memory_stats().in_use == with_a);
    device.reset_peak_memory();
    CHECK(device.memory_stats().peak == with_a);
  }
  CHECK(device.memory_stats().in_use == before);
  CHECK(device.memory_stats().cached >= 4000);
  CHECK(device.memory_stats().peak >= before + 4000);
}

TEST_CASE("a freed block is used again") {
  const Device device;
  device.release_cached_memory();
  CHECK(device.memory_stats().cached == 0);
  { const Tensor a = empty({5000}); }
  const std::uint64_t allocations = device.memory_stats().allocations;
  { const Tensor b = empty({4900}); }
  CHECK(device.memory_stats().allocations == allocations);
}

TEST_CASE("of several freed blocks the one that was freed last is used first") {
  const Device device;
  device.release_cached_memory();
  const auto memory_of = [](const Tensor& x) { return x.impl()->storage->block->memory(); };
  Tensor a = empty({5000}), b = empty({5000}), c = empty({5000});
  const auto of_a = memory_of(a), of_c = memory_of(c);
  a = Tensor();
  c = Tensor();
  const Tensor first = empty({5000}), second = empty({4900}), third = empty({5000});
  CHECK(memory_of(first) == of_c);
  CHECK(memory_of(second) == of_a);
  CHECK(memory_of(third) != memory_of(b));
  CHECK(device.memory_stats().cached == 0);
}

TEST_CASE("out of memory: the pool is emptied first, then the error has its figures") {
  const Device device;
  device.release_cached_memory();
  const std::uint64_t in_use = device.memory_stats().in_use;
  device.set_memory_limit(in_use + 100000);
  { const Tensor cached = empty({20000}); }  // Leaves 80,000 bytes in the cache.
  const Tensor fits = full({12000}, 2);      // Needs these bytes.
  CHECK(device.memory_stats().cached == 0);
  try {
    const Tensor too_much = empty({20000});
    FAIL("it was allocated");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::out_of_memory);
    CHECK(std::string(error.what()).find("In use ") != std::string::npos);
    CHECK(std::string(error.what()).find("peak ") != std::string::npos);
  }
  device.set_memory_limit(0);
  const Tensor now = empty({20000});
  CHECK(fits.to_vector<float>()[11999] == 2.0f);
}

TEST_CASE("a buffer larger than the device allows is refused before anything is asked of OpenCL") {
  const Device device;
  const auto elements = static_cast<std::int64_t>(device.info().max_allocation / 4 + 1);
  CHECK_THROWS_WITH_AS(empty({elements}), doctest::Contains("largest single buffer"), Error);
  CHECK_THROWS_WITH_AS(empty({std::int64_t{1} << 40, std::int64_t{1} << 40}), doctest::Contains("too many elements"),
                       Error);
  CHECK_THROWS_WITH_AS(empty({0, std::int64_t{1} << 40, std::int64_t{1} << 40}), doctest::Contains("too many elements"),
                       Error);
  CHECK(empty({0, std::int64_t{1} << 40}).numel() == 0);
}
