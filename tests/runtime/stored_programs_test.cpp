// Programs that a process compiled are there for the next process, however the first one ends.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "runtime/program/disk_cache.h"
#include "runtime/program/progress.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"

using namespace crisol;
namespace fs = std::filesystem;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// A training of a layer, whose last step no read waits for.
void train() {
  manual_seed(3);
  nn::Linear net(24, 3);
  optim::Adam adam(net.parameters(), 0.01);
  const Tensor x = randn({8, 24}), labels = zeros({8}, DType::i64);
  for (int step = 0; step < 2; ++step) {
    Tensor loss = cross_entropy(net(x), labels);
    adam.zero_grad();
    loss.backward();
    adam.step();
  }
}

}  // namespace

TEST_CASE("child: train and return" * doctest::skip()) { train(); }

TEST_CASE("child: train and call exit" * doctest::skip()) {
  train();
  std::exit(0);
}

TEST_CASE("child: train and throw" * doctest::skip()) {
  train();
  throw std::runtime_error("the program fails");
}

TEST_CASE("a second process compiles nothing, whether the first one returns, exits or throws") {
  if (testing::slow_device()) CRISOL_SKIP("starts processes outside the simulator");
  for (const char* child : {"child: train and return", "child: train and call exit", "child: train and throw"}) {
    CAPTURE(child);
    const testing::TemporaryFolder folder;
    const auto run = [&] {
      return testing::run_child(child, {{"CRISOL_CACHE_DIR", folder.path() + "/crisol"},
                                        {"POCL_CACHE_DIR", folder.path() + "/pocl"},
                                        {"CRISOL_VERIFY", "off"},
                                        {"CRISOL_VERBOSE", "build"},
                                        {"CRISOL_DEVICE", Device().info().platform}})
          .output;
    };
    std::string output = run();
    const std::size_t compiled = count(output, "crisol: compiled ");
    CHECK_MESSAGE(compiled >= 4, output);
    std::size_t files = 0;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder.path() + "/crisol", error)) files += entry.is_regular_file();
    if (files == 0) CRISOL_SKIP("this implementation gives no program binaries");
    output = run();
    CHECK_MESSAGE(count(output, "crisol: compiled ") == 0, output);
    CHECK_MESSAGE(count(output, " from the disk cache") == compiled, output);
    // PoCL's programs are in its own cache. Without it they are compiled again.
    if (Device().info().platform != "Portable Computing Language" || child != std::string("child: train and return"))
      continue;
    fs::remove_all(folder.path() + "/pocl");
    CHECK(count(run(), "crisol: compiled ") == compiled);
  }
}

TEST_CASE("child: compile for three seconds" * doctest::skip()) {
  using namespace std::chrono_literals;
  runtime::CompileProgress progress;
  const auto now = runtime::CompileProgress::Clock::now();
  const std::string folder = runtime::DiskCache::default_folder();
  progress.add_first_run();
  progress.add_program(now - 1s, folder);
  std::cerr << "one second\n";  // The stream of the line, so that the order is that of the calls.
  progress.add_program(now - 2s, folder);
  progress.add_program(now - 2s, folder);
  runtime::CompileProgress().add_program(now - 9s, "");
  progress.add_program(now - 4s, folder);
  progress.keep();
}

TEST_CASE("after two seconds of compiling, one line says so if it is asked for") {
  if (testing::slow_device()) CRISOL_SKIP("starts processes outside the simulator");
  const testing::TemporaryFolder folder;
  const auto run = [&](const char* choice) {
    return testing::run_child("child: compile for three seconds",
                              {{"CRISOL_PROGRESS", choice}, {"CRISOL_CACHE_DIR", folder.path()}})
        .output;
  };
  const std::string output = run("1");
  CHECK_MESSAGE(count(output, "crisol: compiling kernels") == 1, output);
  CHECK_MESSAGE(count(output, "(2 programs)") == 1, output);
  CHECK_MESSAGE(count(output, "next run starts at once") == 1, output);
  CHECK(output.find("one second") < output.find("compiling kernels"));
  CHECK_MESSAGE(count(output, "so the time left is not known. Up to 1 queued kernel is not compiled yet.") == 1,
                output);
  const std::string again = run("1");  // It compiled for 9 s, and says so after 3 s.
#if defined(__linux__)
  CHECK_MESSAGE(count(again, "An earlier run took 9 s, so about 6 s are left.") == 1, again);
#else
  CHECK_MESSAGE(count(again, "so the time left is not known.") == 1, again);
#endif
  CHECK(count(run("0"), "compiling kernels") == 0);
  CHECK(count(run(""), "compiling kernels") == 0);  // Not on a terminal.
  NEEDS_POSIX("a terminal");
  const auto on_terminal = [](const char* choice) {
    return testing::run_program_on_terminal(testing::own_program(),
                                            {"--no-skip", "--test-case=child: compile for three seconds"},
                                            {{"CRISOL_PROGRESS", choice}})
        .output;
  };
  CHECK(count(on_terminal(""), "compiling kernels") == 1);
  CHECK(count(on_terminal("0"), "compiling kernels") == 0);
}
