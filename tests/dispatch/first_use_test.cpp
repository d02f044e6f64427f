// Tuning at first use: CRISOL_TUNE, its bounds, what it stores, and what it leaves alone. A process reads the variable
// and the stored choices once, so each case starts its own processes. They tune a measured device too, by
// CRISOL_TUNE=always. The tests do not check which variant is faster.
#include <cstdlib>
#include <filesystem>
#include <future>
#include <iostream>
#include <set>
#include <thread>
#include <vector>

#include "base/hash.h"
#include "crisol/crisol.h"
#include "crisol/ops.h"
#include "dispatch/first_use/budget.h"
#include "dispatch/stored/tuning.h"
#include "doctest/doctest.h"
#include "reference/images/conv2d.h"
#include "reference/images/conv2d_cases.h"
#include "support/compare.h"
#include "support/files.h"
#include "support/processes/program.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;
using dispatch::TuningBudget;

namespace {

/// The time of the children's clock.
double now = 0;

/// A convolution that several variants take on CPUs and on GPUs.
struct Layer {
  Shape x_shape{2, 16, 17, 19}, w_shape{16, 16, 3, 3};
  std::vector<double> x = random_values(1, x_shape.numel()), w = random_values(2, w_shape.numel());
  Conv2dOptions options{{1, 1}, {1, 1}, {1, 1}, 1};
  Tensor input = tensor_of(x, x_shape), weight = tensor_of(w, w_shape);

  Tensor run() const { return ops::conv2d(input, weight, {}, options); }
  void check(const Tensor& y) const {
    check_close(y, reference::conv2d_shape(x_shape, w_shape, options),
                reference::conv2d(x, x_shape, w, w_shape, {}, options), reference::conv2d_tolerance(144, 8));
  }
};

TuningProblem problem_of(const Layer& layer) {
  const ProblemLog log;
  layer.run();
  return log.problems().at(0);
}

std::size_t accepting(const TuningProblem& problem) {
  std::size_t count = 0;
  for (const TuningCandidate& candidate : problem.candidates) count += candidate.refusal.empty() ? 1 : 0;
  return count;
}

std::uint64_t bits_of(const Tensor& x) {
  std::uint64_t bits = 0;
  for (const float value : x.to_vector<float>()) bits = hash_of(std::to_string(bits) + std::to_string(value) + "|");
  return bits;
}

/// A file of stored choices of its own.
struct Place {
  TemporaryFolder folder;
  std::string file = folder.path() + "/tuning.txt";

  ProcessResult run(const std::string& child, const Environment& more = {}) const {
    Environment environment{{"CRISOL_TUNING", file}, {"CRISOL_TUNE", "always"}, {"CRISOL_VERBOSE", "dispatch"}};
    environment.insert(environment.end(), more.begin(), more.end());
    return run_child(child, environment);
  }
  std::vector<TuningEntry> entries() const { return dispatch::read_tuning(read_file(file)).entries; }
};

std::string line_with(const std::string& text, const std::string& start) {
  for (const std::string& line : lines_of(text))
    if (line.rfind(start, 0) == 0) return line;
  return {};
}

bool is_slow() { return slow_device(); }

}  // namespace

TEST_CASE("tuning at first use: any part of the first ten seconds, then two percent, and thirty seconds in all") {
  TuningBudget budget;
  CHECK(budget.allows(0, 10));
  CHECK_FALSE(budget.allows(0, 10.1));
  CHECK_FALSE(budget.allows(9.9, 0.2));
  CHECK_FALSE(budget.allows(10, 0.001));
  CHECK(budget.allows(20, 0.2));
  CHECK_FALSE(budget.allows(20, 0.21));
  budget.spend(2, 7);  // It does not count among the two percent.
  CHECK(budget.allows(20, 0.2));
  budget.spend(20, 20.2);
  CHECK_FALSE(budget.allows(21, 0.1));
  CHECK(budget.allows(30.1, 0.2));
  budget.spend(9.5, 11);  // One second of it is late.
  CHECK(budget.spent() == doctest::Approx(6.7));
  CHECK_FALSE(budget.allows(60, 0.1));
  CHECK(budget.allows(75.1, 0.1));
  CHECK(budget.allows(1e6, 23.2));
  CHECK_FALSE(budget.allows(1e6, 23.4));
  // Work that keeps to its expectation never takes more than the bounds.
  TuningBudget other;
  double late = 0, all = 0;
  for (double t = 0; t < 5000; t += 0.37) {
    if (!other.allows(t, 0.3)) continue;
    other.spend(t, t + 0.3);
    all += 0.3;
    if (t + 0.3 > 10) late += 0.3;
    CHECK(late <= 0.02 * std::max(0.0, t + 0.3 - 10) + 1e-9);
  }
  CHECK(all <= 30 + 1e-9);
  CHECK(all > 29);
}

TEST_CASE("tuning at first use: what was measured first stays, and replaces what was only met") {
  const TemporaryFolder folder;
  set_variable("CRISOL_TUNING", folder.path() + "/tuning.txt");
  const auto entry = [](std::uint64_t key, const char* variant, std::int64_t nanoseconds) {
    return TuningEntry{"a device", "a problem", key, variant, nanoseconds, "usual", 2 * nanoseconds};
  };
  CHECK(dispatch::store_first(entry(1, "usual", 0)).variant == "usual");
  CHECK(dispatch::store_first(entry(1, "a", 5)).variant == "a");
  CHECK(dispatch::store_first(entry(1, "b", 4)).variant == "a");
  CHECK(dispatch::store_first(entry(1, "usual", 0)).variant == "a");
  CHECK(dispatch::store_first(entry(2, "b", 4)).variant == "b");
  const std::vector<TuningEntry> entries = tuning_entries();
  set_variable("CRISOL_TUNING", "0");
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].variant == "a");
  CHECK(entries[0].nanoseconds == 5);
}

TEST_CASE("tuning table: an entry that keeps the usual variant is known, and forces nothing") {
  const DeviceInfo& info = Device().info();
  dispatch::TuningTable table({{tuning_device(info), "p", 1, "usual", 3, "usual", 3}});
  CHECK(table.empty());
  CHECK(table.knows(info, 1));
  CHECK(table.find(info, 1) == nullptr);
  CHECK_FALSE(table.knows(info, 2));
  table.add({tuning_device(info), "p", 2, "other", 3, "usual", 4});
  CHECK(table.knows(info, 2));
  REQUIRE(table.find(info, 2) != nullptr);
  CHECK(*table.find(info, 2) == "other");
}

TEST_CASE("child: convolves" * doctest::skip()) {
  const Layer layer;
  for (int i = 0; i < 3; ++i) layer.check(layer.run());
  std::cout << "bits " << bits_of(layer.run()) << '\n';
}

TEST_CASE("CRISOL_TUNE: the winner is stored, and all runs from the second one on give the same bits") {
  if (is_slow()) CRISOL_SKIP("starts processes outside the simulator");
  const TuningProblem problem = problem_of(Layer());
  REQUIRE(accepting(problem) >= 2);
  const Place place;
  const ProcessResult first = place.run("child: convolves");
  INFO(first.output);
  CHECK(first.status == 0);
  CHECK(contains(first.output, "crisol: conv2d: tuned at first use: "));
  REQUIRE(place.entries().size() == 1);
  const TuningEntry entry = place.entries()[0];
  CHECK(entry.problem == problem.text);
  CHECK(entry.key == problem.key);
  CHECK(entry.device == tuning_device(Device().info()));
  CHECK(entry.usual == problem.usual());
  CHECK(entry.nanoseconds > 0);
  CHECK(entry.nanoseconds <= entry.usual_nanoseconds);
  std::set<std::string> variants;
  for (const TuningCandidate& candidate : problem.candidates)
    if (candidate.refusal.empty()) variants.insert(candidate.variant);
  CHECK(variants.count(entry.variant) == 1);

  const std::string stored = read_file(place.file);
  std::set<std::string> bits;
  for (int run = 2; run <= 3; ++run) {
    const ProcessResult later = place.run("child: convolves");
    CHECK(later.status == 0);
    CHECK_FALSE(contains(later.output, "tuned at first use"));
    bits.insert(line_with(later.output, "bits "));
    // The file alone decides.
    bits.insert(line_with(place.run("child: convolves", {{"CRISOL_TUNE", ""}}).output, "bits "));
  }
  CHECK(bits.size() == 1);
  CHECK(bits.count("") == 0);
  CHECK(read_file(place.file) == stored);
}

TEST_CASE("CRISOL_TUNE: first leaves measured devices alone, off is the default, and other values are errors") {
  if (is_slow()) CRISOL_SKIP("starts processes outside the simulator");
  const Place place;
  for (const char* value : {"", "off"}) CHECK(place.run("child: convolves", {{"CRISOL_TUNE", value}}).status == 0);
  CHECK_FALSE(std::filesystem::exists(place.file));
  CHECK(place.run("child: convolves", {{"CRISOL_TUNE", "first"}}).status == 0);
  CHECK(std::filesystem::exists(place.file) == !is_measured_device(Device().info()));
  const ProcessResult wrong = place.run("child: convolves", {{"CRISOL_TUNE", "sometimes"}});
  CHECK(wrong.status != 0);
  CHECK(contains(wrong.output, "[CRISOL_TUNE] 'sometimes' is none of off, first and always"));
  // Nothing is tuned if nothing can be stored.
  const ProcessResult none = place.run("child: convolves", {{"CRISOL_TUNING", "0"}});
  CHECK(none.status == 0);
  CHECK_FALSE(contains(none.output, "tuned at first use"));
  write_file(place.folder.path() + "/blocked", "");
  const ProcessResult blocked = place.run("child: convolves", {{"CRISOL_TUNING", place.folder.path() + "/blocked/t"}});
  CHECK(blocked.status == 0);
  CHECK(contains(blocked.output, "crisol: tuning: nothing is tuned at first use: "));
}

TEST_CASE("child: convolves by a clock" * doctest::skip()) {
  dispatch::set_tuning_clock([] { return now; });
  const Layer layer;
  now = 10.1;  // Two percent of a tenth of a second.
  for (int i = 0; i < 3; ++i) layer.check(layer.run());
  REQUIRE(tuning_entries().size() == 1);
  CHECK(tuning_entries()[0].nanoseconds == 0);
  CHECK(tuning_entries()[0].variant == tuning_entries()[0].usual);
  now = 1e5;
  layer.check(layer.run());
  REQUIRE(tuning_entries().size() == 1);
  CHECK(tuning_entries()[0].nanoseconds > 0);
}

TEST_CASE("child: convolves without time" * doctest::skip()) {
  dispatch::set_tuning_clock([] { return 10.1; });
  const Layer layer;
  layer.check(layer.run());
}

TEST_CASE("CRISOL_TUNE: waits for time, and a problem that was only met is not tuned by a later run") {
  if (is_slow()) CRISOL_SKIP("starts processes outside the simulator");
  CHECK_PASSED(Place().run("child: convolves by a clock"));
  const Place place;
  CHECK_PASSED(place.run("child: convolves without time"));
  const std::string met = read_file(place.file);
  CHECK(place.entries().size() == 1);
  const ProcessResult later = place.run("child: convolves");
  CHECK_PASSED(later);
  CHECK_FALSE(contains(later.output, "tuned at first use"));
  CHECK(read_file(place.file) == met);
}

TEST_CASE("child: convolves in a capture" * doctest::skip()) {
  const Layer layer;
  Tensor y;
  CapturedGraph graph = capture([&] { y = layer.run(); });
  graph.replay();
  layer.check(y);
  CHECK(tuning_entries().empty());
  layer.check(layer.run());
  CHECK(tuning_entries().size() == 1);
  graph.replay();
  layer.check(y);
}

TEST_CASE("child: convolves by a forced variant" * doctest::skip()) {
  const Layer layer;
  {
    const ForcedVariant forced("conv2d", "direct");
    layer.check(layer.run());
  }
  CHECK(tuning_entries().empty());
}

TEST_CASE("child: convolves without memory" * doctest::skip()) {
  const Layer layer, other;  // `other` has a new weight, of which no copy is kept.
  const Device device;
  const std::string usual = [&] {
    const ForcedVariant forced("conv2d", "direct");  // So nothing is tuned.
    return problem_of(layer).usual();
  }();
  const std::uint64_t before = device.memory_stats().in_use;
  device.reset_peak_memory();
  {
    const ForcedVariant forced("conv2d", usual);
    layer.check(layer.run());
  }
  device.release_cached_memory();
  device.set_memory_limit(device.memory_stats().peak - before + device.memory_stats().in_use);
  other.check(other.run());
  REQUIRE(tuning_entries().size() == 1);
  CHECK(tuning_entries()[0].nanoseconds == 0);
}

TEST_CASE("child: small products and other ops" * doctest::skip()) {
  ops::matmul(ones({8, 8}), ones({8, 8}));
  ops::softmax(ones({512, 4096}), 1);
  CHECK(tuning_entries().empty());
}

TEST_CASE("child: a profile and a log while a convolution is tuned" * doctest::skip()) {
  const Layer layer;
  const GeneratorState before = default_generator().state();
  Profile profile;
  VariantLog choices;
  ProblemLog problems;
  layer.check(layer.run());
  CHECK(default_generator().state() == before);
  CHECK(problems.problems().size() == 1);
  CHECK(choices.choices().size() >= 1);
  CHECK(tuning_entries().size() == 1);
}

TEST_CASE("CRISOL_TUNE: captures, forced variants, small problems and other ops are left alone") {
  if (is_slow()) CRISOL_SKIP("starts processes outside the simulator");
  CHECK_PASSED(Place().run("child: convolves in a capture"));
  CHECK_PASSED(Place().run("child: convolves by a forced variant"));
  CHECK_PASSED(Place().run("child: convolves without memory"));
  CHECK_PASSED(Place().run("child: small products and other ops"));
  CHECK_PASSED(Place().run("child: a profile and a log while a convolution is tuned"));
  const Place place;
  CHECK(place.run("child: convolves", {{"CRISOL_VARIANT", "conv2d:direct"}}).status == 0);
  CHECK(place.entries().empty());
}

TEST_CASE("child: trains a layer of each kind" * doctest::skip()) {
  manual_seed(5);
  nn::Conv2d conv(16, 16, 3, {.padding = 1});
  nn::LSTM lstm(64, 64);
  nn::Linear linear(64, 64);
  Tensor images = randn({2, 16, 16, 16}), steps = randn({9, 8, 64}), rows = randn({256, 64});
  for (int step = 0; step < 2; ++step) {
    for (Tensor* const x : {&images, &steps, &rows}) x->requires_grad_();
    const Tensor loss = mean(conv(images)) + mean(lstm(steps)) + mean(linear(rows));
    loss.backward();
  }
  std::cout << "bits " << bits_of(images.grad()) << ' ' << bits_of(steps.grad()) << ' ' << bits_of(rows.grad()) << '\n';
}

TEST_CASE("CRISOL_TUNE: several processes at once, and threads of one") {
  if (is_slow()) CRISOL_SKIP("starts processes outside the simulator");
  const Place place;
  std::vector<std::future<ProcessResult>> children;
  for (int i = 0; i < 3; ++i)
    children.push_back(std::async(std::launch::async, [&] { return place.run("child: trains a layer of each kind"); }));
  for (std::future<ProcessResult>& child : children) {
    const ProcessResult result = child.get();
    CHECK_MESSAGE(result.status == 0, result.output);
  }
  std::set<std::uint64_t> keys;
  for (const TuningEntry& entry : place.entries()) keys.insert(entry.key);
  CHECK(keys.size() == place.entries().size());
  std::set<std::string> ops;
  for (const TuningEntry& entry : place.entries()) ops.insert(entry.problem.substr(0, entry.problem.find(' ')));
  for (const char* op :
       {"conv2d", "conv2d_backward_data", "conv2d_backward_weight", "matmul", "rnn_forward", "rnn_backward"})
    CHECK_MESSAGE(ops.count(op) == 1, op);
  const std::string stored = read_file(place.file);
  std::set<std::string> bits;
  for (int run = 0; run < 2; ++run)
    bits.insert(line_with(place.run("child: trains a layer of each kind").output, "bits "));
  CHECK(bits.size() == 1);
  CHECK(bits.count("") == 0);
  CHECK(read_file(place.file) == stored);
}

TEST_CASE("child: several threads convolve" * doctest::skip()) {
  const Layer layer;
  std::vector<std::thread> threads;
  std::vector<Tensor> results(4);
  for (Tensor& y : results)
    threads.emplace_back([&] {
      for (int i = 0; i < 3; ++i) y = layer.run();
    });
  for (std::thread& thread : threads) thread.join();
  for (const Tensor& y : results) layer.check(y);
  CHECK(tuning_entries().size() == 1);
}

TEST_CASE("CRISOL_TUNE: several threads meet one problem") {
  if (is_slow()) CRISOL_SKIP("starts processes outside the simulator");
  CHECK_PASSED(Place().run("child: several threads convolve"));
}

TEST_CASE("CRISOL_TUNE: a variant that cannot be built is left out with a line, and the results are right") {
  if (is_slow()) CRISOL_SKIP("starts processes outside the simulator");
  if (Device().info().type != DeviceType::cpu) CRISOL_SKIP("breaks a kernel that CPUs do not choose");
  const Place place;
  const std::string kernels = place.folder.path() + "/kernels";
  std::filesystem::copy(CRISOL_SOURCE_DIR "/cl_kernels", kernels, std::filesystem::copy_options::recursive);
  write_file(kernels + "/conv/conv2d_im2col.cl", "this is no kernel\n");
  const ProcessResult result = place.run("child: convolves", {{"CRISOL_KERNEL_PATH", kernels}});
  INFO(result.output);
  CHECK(result.status == 0);
  CHECK(contains(result.output, "crisol: tuning: conv2d by im2col_gemm is left out: "));
  REQUIRE(place.entries().size() == 1);
  CHECK(place.entries()[0].variant != "im2col_gemm");
}
