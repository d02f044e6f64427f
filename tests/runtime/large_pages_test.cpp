// Large buffers of CPU devices are stored in memory that the library maps (see runtime/memory/large_pages.h).
#include <fstream>
#include <string>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/skip.h"

using namespace crisol;

namespace {

/// Bytes of this process in memory; 0 if the system does not report them.
std::int64_t resident_bytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  std::int64_t kilobytes = 0;
  while (status >> word)
    if (word == "VmRSS:" && status >> kilobytes) return kilobytes * 1024;
  return 0;
}

}  // namespace

TEST_CASE("a large buffer keeps what is written, also past its last whole large page") {
  if (testing::slow_device()) CRISOL_SKIP("megabytes take minutes here");
  const std::int64_t count = (std::int64_t{5} << 20) / 4 + 37;
  const Tensor numbers = arange(0, static_cast<double>(count), 1, DType::i32);
  const Tensor moved = numbers.narrow(0, 1, count - 1) - numbers.narrow(0, 0, count - 1);
  CHECK(sum(moved).item<std::int64_t>() == count - 1);
  const std::vector<std::int32_t> back = numbers.to_vector<std::int32_t>();
  CHECK(back.front() == 0);
  CHECK(back.back() == count - 1);
}

TEST_CASE("memory of large buffers goes back to the system") {
  NEEDS_POSIX("figures of the process's memory");
  const Device device;
  const std::string& platform = device.info().platform;
  if (device.info().type != DeviceType::cpu || resident_bytes() == 0) CRISOL_SKIP("device memory is not the process's");
  if (platform == "rusticl") CRISOL_SKIP("rusticl's kernels keep the buffers that they used last");
  constexpr std::int64_t bytes = std::int64_t{256} << 20;
  device.release_cached_memory();
  device.synchronize();
  const std::int64_t before = resident_bytes();
  {
    const Tensor large = full({bytes / 4}, 1);
    device.synchronize();
    CHECK(resident_bytes() - before > bytes * 9 / 10);
  }
  device.release_cached_memory();
  device.synchronize();
  CHECK(resident_bytes() - before < bytes / 10);
}
