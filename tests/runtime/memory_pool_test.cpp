#include "runtime/memory/memory_pool.h"

#include <algorithm>
#include <string>
#include <vector>

#include "crisol/crisol.h"
#include "crisol/ops/matmul.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/skip.h"
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
    const std::string text = error.what();
    const std::string limit = " (" + std::to_string(in_use + 100000) + " bytes)";
    for (const std::string& part : {std::string("cannot allocate 80 KiB (81920 bytes)"), std::string("In use "),
                                    std::string("peak "), std::string("the limit of set_memory_limit is "), limit}) {
      CAPTURE(part);
      CHECK(text.find(part) != std::string::npos);
    }
  }
  device.set_memory_limit(0);
  const Tensor now = empty({20000});
  CHECK(fits.to_vector<float>()[11999] == 2.0f);
}

TEST_CASE("out of memory: the error names the largest holders by op, shape and count") {
  const Device device;
  device.release_cached_memory();
  std::vector<Tensor> kept;
  const Tensor x = full({50, 40000}, 1);
  for (int i = 0; i < 3; ++i) kept.push_back(relu(x));
  kept.push_back(ops::matmul(ones({900, 3}), ones({3, 1000})));
  kept.push_back(from_vector(std::vector<std::int64_t>(600000), {600, 1000}));
  kept.push_back(empty({700, 800}));
  device.set_memory_limit(device.memory_stats().in_use + 1);
  const auto text = testing::refusal(ErrorCode::out_of_memory, [] { empty({9999, 999}); });
  device.set_memory_limit(0);
  CAPTURE(text);
  for (const char* part : {"Largest holders: ", "relu (50, 40000) f32: 3 × ", "fill (50, 40000) f32: 1 × ",
                           "matmul (900, 1000) f32: 1 × ", "from the host (600, 1000) i64: 1 × "})
    CHECK(text == doctest::Contains(part));
  CHECK(std::string(text.c_str()).find("relu") < std::string(text.c_str()).find("matmul"));
  const auto after = testing::refusal(ErrorCode::out_of_memory, [&] {
    kept.clear();
    device.release_cached_memory();
    device.set_memory_limit(device.memory_stats().in_use + 1);
    empty({9999, 999});
  });
  device.set_memory_limit(0);
  CHECK(std::string(after.c_str()).find("relu") == std::string::npos);
}

TEST_CASE("without a limit the pool takes no more than the device has, and a limit allows more") {
  const Device device;
  device.release_cached_memory();
  const DeviceInfo& info = device.info();
  if (info.global_memory == 0 || info.max_allocation == 0) CRISOL_SKIP("the driver does not tell the device's memory");
  if (testing::slow_launches()) CRISOL_SKIP("the driver writes to the whole buffer when it makes one");
  // The memory of tensors that nobody writes is never used: systems give it out at the first write.
  const auto elements = static_cast<std::int64_t>(std::min<std::uint64_t>(info.max_allocation, 1 << 30));
  std::vector<Tensor> kept;
  const auto text = testing::refusal(ErrorCode::out_of_memory, [&] {
    for (std::uint64_t i = 0; i <= info.global_memory / static_cast<std::uint64_t>(elements) + 1; ++i)
      kept.push_back(empty({elements}, DType::u8));
  });
  CAPTURE(text);
  CHECK(text == doctest::Contains("[memory] cannot allocate "));
  CHECK(device.memory_stats().in_use <= info.global_memory);
  const bool by_driver = std::string(text.c_str()).find("memory is exhausted") != std::string::npos;
  if (by_driver) CRISOL_SKIP("the driver gives less memory than it tells");
  CHECK(text == doctest::Contains("the device has "));
  device.set_memory_limit(info.global_memory + 2 * static_cast<std::uint64_t>(elements) + info.global_memory / 4);
  try {
    kept.push_back(empty({elements}, DType::u8));
    CHECK(kept.back().numel() == elements);
  } catch (const Error& error) {  // The driver's own word.
    CHECK(std::string(error.what()).find("memory is exhausted") != std::string::npos);
  }
  device.set_memory_limit(0);
  kept.clear();
  device.release_cached_memory();
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
