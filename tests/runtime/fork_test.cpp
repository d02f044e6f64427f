// Children of fork(). Each case has a process of its own, so that a child that hangs stops no other case. This program
// always looks for devices first. `crisol doctor` forks before it does (cli/doctor_test.cpp).
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <thread>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"

using namespace crisol;

namespace {

/// Runs `work` in a child of fork() that then ends by exit(), with handlers and static objects. Returns the child's
/// exit status: the result of `work`, 98 after an exception, or 99 if it hangs or crashes.
int in_child(const std::function<int()>& work) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(60);
    try {
      std::exit(work());
    } catch (const std::exception&) {
      std::exit(98);
    }
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

/// 0 if the call throws the error about fork().
int refuses(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    const std::string text = error.what();
    return error.code() == ErrorCode::device_failure && text.find("[fork]") == 0 ? 0 : 2;
  }
  return 1;
}

}  // namespace

TEST_CASE("child: forks after the library was used" * doctest::skip()) {
  static Tensor kept = full({3}, 2);  // Its destructor runs in the child too.
  Tensor x = ones({2, 2});
  CHECK(sum(x).item() == 4.0f);
  CHECK(in_child([] { return refuses([] { Device(); }); }) == 0);
  CHECK(in_child([] { return refuses([] { Device("cpu"); }); }) == 0);
  CHECK(in_child([] { return refuses([] { devices(); }); }) == 0);
  CHECK(in_child([&] { return refuses([&] { x.device().synchronize(); }); }) == 0);
  CHECK(in_child([&] { return refuses([&] { static_cast<void>(x.device().memory_stats()); }); }) == 0);
  CHECK(in_child([&] { return refuses([&] { x.to_vector<float>(); }); }) == 0);
  CHECK(in_child([&] { return refuses([&] { relu(x); }); }) == 0);
  CHECK(in_child([&] { return refuses([&] { matmul(x, x); }); }) == 0);
  CHECK(in_child([&] { return refuses([&] { kept.fill_(1); }); }) == 0);
  // Calls that need no device work, and tensors can be destroyed.
  CHECK(in_child([&] {
          const bool right = x.shape() == Shape{2, 2} && x.transpose(0, 1).dim() == 2;
          x = Tensor();
          return right ? 0 : 1;
        }) == 0);
  CHECK(in_child([] { return 7; }) == 7);
  CHECK(sum(x).item() == 4.0f);  // The parent goes on.
  CHECK(kept.to_vector<float>() == std::vector<float>{2, 2, 2});
}

TEST_CASE("child: forks while another thread uses the library" * doctest::skip()) {
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) sum(ones({100})).item();
  });
  for (int round = 0; round < 20; ++round) CHECK(in_child([] { return refuses([] { ones({2}); }); }) == 0);
  stop = true;
  other.join();
}

TEST_CASE("child: forks with a loader and a graph" * doctest::skip()) {
  const io::TensorDataset images({zeros({64, 3})});
  auto loader = std::make_unique<io::DataLoader>(images, io::DataLoaderOptions{.batch_size = 4});
  io::Batch batch;
  loader->start(0);
  REQUIRE(loader->next(batch));
  Tensor x = ones({4}), y;
  auto graph = std::make_unique<CapturedGraph>(capture([&] { y = relu(x); }));
  CHECK(in_child([&] {
          const int refused = refuses([&] { loader->next(batch); }) + refuses([&] { graph->replay(); });
          loader.reset();
          graph.reset();
          return refused;
        }) == 0);
  CHECK(loader->next(batch));
  graph->replay();
  CHECK(y.to_vector<float>() == std::vector<float>{1, 1, 1, 1});
}

TEST_CASE("child: uses the library" * doctest::skip()) { CHECK(sum(ones({2})).item() == 2.0f); }

TEST_CASE("child: starts a program after the library was used" * doctest::skip()) {
  CHECK(sum(ones({2})).item() == 2.0f);
  const testing::ProcessResult result = testing::run_child("child: uses the library", {});
  CHECK_PASSED(result);
}

TEST_CASE("a child of fork() is told that it cannot use the library, and ends") {
  if (testing::slow_device()) CRISOL_SKIP("starts processes outside the simulator");
  for (const char* name :
       {"child: forks after the library was used", "child: forks while another thread uses the library",
        "child: forks with a loader and a graph", "child: starts a program after the library was used"}) {
    CAPTURE(std::string(name));
    const testing::ProcessResult result = testing::run_child(name, {});
    CHECK_PASSED(result);
  }
}
