// Several threads, each with its own tensors and generators, on one device and on several. Their numbers must equal the
// numbers of a single thread.
#include <cmath>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "crisol/device.h"
#include "doctest/doctest.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"
#include "support/training.h"
#include "support/two_devices.h"

namespace crisol {

namespace {

using testing::trained;

constexpr int steps = 4;

struct Task {
  Device device;
  std::uint64_t seed;
};

/// Runs all tasks at once, each in its own thread.
std::vector<std::vector<float>> trained_at_once(const std::vector<Task>& tasks) {
  std::vector<std::vector<float>> results(tasks.size());
  std::vector<std::exception_ptr> errors(tasks.size());
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < tasks.size(); ++t)
    threads.emplace_back([&, t] {
      try {
        results[t] = trained(tasks[t].device, tasks[t].seed, steps);
      } catch (...) {
        errors[t] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
  return results;
}

void check_same_as_alone(const std::vector<Task>& tasks) {
  // First all at once, so that the threads also request kernels that are not compiled yet.
  const std::vector<std::vector<float>> results = trained_at_once(tasks);
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    CAPTURE(t);
    const std::vector<float> alone = trained(tasks[t].device, tasks[t].seed, steps);
    CHECK(std::isfinite(alone[0]));
    CHECK(results[t] == alone);
  }
}

}  // namespace

TEST_CASE("threads that train on one device give the numbers of one thread, bit for bit") {
  if (testing::slow_device()) CRISOL_SKIP("the simulator aborts when two threads launch at once");
  check_same_as_alone({{Device(), 1}, {Device(), 2}, {Device(), 3}});
}

TEST_CASE("child: threads with kernels to make" * doctest::skip()) {
  check_same_as_alone({{Device(), 1}, {Device(), 1}, {Device(), 2}});
}

TEST_CASE("child: threads on all devices" * doctest::skip()) {
  std::vector<Task> tasks;
  for (const Device device : devices())
    for (const std::uint64_t seed : {1, 2}) tasks.push_back({device, seed});
  CHECK(tasks.size() == 4);
  check_same_as_alone(tasks);
}

TEST_CASE("threads that need the same new kernels at once give the numbers of one thread") {
  if (testing::slow_device()) CRISOL_SKIP("the simulator aborts when two threads launch at once");
  const testing::TemporaryFolder cache;
  const testing::ProcessResult cold =
      testing::run_child("child: threads with kernels to make", {{"CRISOL_CACHE_DIR", cache.path()}});
  CHECK_PASSED(cold);
}

TEST_CASE("threads on two devices give the numbers of one thread") {
  NEEDS_TWO_DEVICES();
  // The second device is not "basic": PoCL 3.1 locks up if that device works at the same time as another
  // (docs/implementations.md).
  const testing::ProcessResult two =
      testing::run_child("child: threads on all devices", {{"POCL_DEVICES", "pthread pthread"}});
  CHECK_PASSED(two);
}

}  // namespace crisol
