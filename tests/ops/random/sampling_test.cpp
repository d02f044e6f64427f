// multinomial and sample_logits. Exact sums are compared with the generator's words, and other results with their
// probabilities.
#include "crisol/ops/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/philox.h"
#include "crisol/ops/view.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/coverage.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"

namespace crisol {

namespace {

using testing::all_layouts;
using testing::check_close;
using testing::check_error;
using testing::random_integers;
using testing::tensor_of;
using testing::view_of;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t seed = 20240607;

std::vector<std::int64_t> integers(const Tensor& x) { return x.to_vector<std::int64_t>(); }

// The first category whose cumulative sum exceeds u times the total. u comes from word i of a new generator.
std::int64_t category_of(const std::vector<double>& weights, std::uint64_t i) {
  double total = 0, sum = 0;
  for (const double w : weights) total += w;
  const double u = (philox_word(seed, 0, i) >> 8) * 0x1p-24;
  std::size_t category = 0;
  while ((sum += weights[category]) <= u * total) ++category;
  return static_cast<std::int64_t>(category);
}

// The distance of counts from probabilities: sum (n - N p)^2 / (N p). For true probabilities, it exceeds
// categories + 4 sqrt(2 categories) + 8 less than once in 10^4 times.
void check_distribution(const std::vector<std::int64_t>& samples, const std::vector<double>& probabilities) {
  std::vector<double> counts(probabilities.size(), 0);
  const auto [least, most] = std::minmax_element(samples.begin(), samples.end());
  REQUIRE(*least >= 0);
  REQUIRE(*most < static_cast<std::int64_t>(counts.size()));
  for (const std::int64_t sample : samples) ++counts[static_cast<std::size_t>(sample)];
  double distance = 0, categories = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = probabilities[i] * static_cast<double>(samples.size());
    if (probabilities[i] == 0) CHECK(counts[i] == 0);
    if (probabilities[i] == 0) continue;
    distance += (counts[i] - expected) * (counts[i] - expected) / expected;
    ++categories;
  }
  CAPTURE(counts);
  CHECK(distance < categories + 4 * std::sqrt(2 * categories) + 8);
}

std::int64_t draws() { return testing::slow_device() ? 400 : 20000; }

const std::vector<double> weights{4, 0, 1, 16, 2, 0, 8, 1, 0.25, 0.75};  // Sum 33.

std::vector<double> normalized(const std::vector<double>& w) {
  double total = 0;
  for (const double x : w) total += x;
  std::vector<double> p = w;
  for (double& x : p) x /= total;
  return p;
}

std::vector<double> softmax_of(const std::vector<double>& logits, double temperature) {
  std::vector<double> p;
  for (const double x : logits) p.push_back(std::exp(x / temperature));
  return normalized(p);
}

}  // namespace

TEST_CASE("multinomial: with replacement, every sample is what its random number says") {
  // Whole weights whose sum is a power of two, so that nothing is rounded.
  std::vector<double> rows{8, 0, 4, 2, 1, 1, 0, 0, 0, 0, 0, 16, 1, 1, 1, 1, 1, 1, 1, 1};
  rows.resize(30, 0);
  rows[29] = 4;
  for (const testing::Layout layout : all_layouts)
    for (const std::int64_t count : {1, 2, 7, 50}) {
      CAPTURE(testing::name_of(layout));
      CAPTURE(count);
      const Generator generator(seed);
      const Tensor samples = ops::multinomial(view_of(rows, {3, 10}, layout), count, true, generator);
      CHECK(samples.shape() == Shape{3, count});
      const std::vector<std::int64_t> values = integers(samples);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto row = static_cast<std::ptrdiff_t>(i / static_cast<std::size_t>(count));
        const std::vector<double> w(rows.begin() + 10 * row, rows.begin() + 10 * row + 10);
        CHECK(values[i] == category_of(w, i));
      }
      CHECK(generator.state() == GeneratorState{seed, static_cast<std::uint64_t>((3 * count + 3) / 4)});
    }
}

TEST_CASE("multinomial: many categories, beyond one chunk of the sums") {
  const std::int64_t n = testing::slow_device() ? 1024 : 65536;
  const std::vector<std::int64_t> samples = integers(ops::multinomial(ones({n}), 300, true, Generator(seed)));
  for (std::size_t i = 0; i < samples.size(); ++i)
    CHECK(samples[i] == static_cast<std::int64_t>((philox_word(seed, 0, i) >> 8) * 0x1p-24 * static_cast<double>(n)));
  // One category among many zeros, at different places of a chunk.
  for (const std::int64_t at : {std::int64_t{0}, std::int64_t{255}, std::int64_t{256}, n - 1}) {
    std::vector<double> one(static_cast<std::size_t>(n), 0);
    one[static_cast<std::size_t>(at)] = 1e-30f;
    for (const std::int64_t sample : integers(ops::multinomial(tensor_of(one, {n}), 5, true, Generator(seed))))
      CHECK(sample == at);
    CHECK(integers(ops::multinomial(tensor_of(one, {n}), 2, false, Generator(seed))) ==
          std::vector<std::int64_t>{at, -1});
  }
}

TEST_CASE("multinomial: frequencies are the probabilities") {
  const Tensor w = tensor_of(weights, {10});
  check_distribution(integers(ops::multinomial(w, draws(), true, Generator(seed))), normalized(weights));
  check_distribution(integers(ops::multinomial(w.to(DType::f16), draws(), true, Generator(seed + 1))),
                     normalized(weights));
}

TEST_CASE("multinomial: without replacement, samples differ and follow the weights that are left") {
  const Tensor rows = ops::expand(tensor_of(weights, {1, 10}), {draws(), 10});
  const Generator generator(seed);
  const Tensor samples = ops::multinomial(rows, 3, false, generator);
  CHECK(generator.state().counter == static_cast<std::uint64_t>((draws() * 10 + 3) / 4));
  const std::vector<std::int64_t> values = integers(samples);
  int repeated = 0;
  for (std::size_t i = 0; i < values.size(); i += 3)
    repeated += values[i] == values[i + 1] || values[i] == values[i + 2] || values[i + 1] == values[i + 2];
  CHECK(repeated == 0);
  const std::vector<double> p = normalized(weights);
  std::vector<double> second(10, 0);
  for (std::size_t i = 0; i < 10; ++i)
    for (std::size_t j = 0; j < 10; ++j)
      if (i != j) second[j] += p[i] * p[j] / (1 - p[i]);
  check_distribution(integers(ops::select(samples, 1, 0)), p);
  check_distribution(integers(ops::select(samples, 1, 1)), second);
  // All categories that can be drawn, then none.
  const std::vector<std::int64_t> all = integers(ops::multinomial(tensor_of(weights, {10}), 10, false, Generator(3)));
  CHECK(std::set<std::int64_t>(all.begin(), all.begin() + 8) == std::set<std::int64_t>{0, 2, 3, 4, 6, 7, 8, 9});
  CHECK(all[8] == -1);
  CHECK(all[9] == -1);
}

TEST_CASE("multinomial: rows from which nothing can be drawn give -1, and leave the others alone") {
  const Tensor rows = tensor_of({0, 0, 1, -1, 1, nan, inf, 1, 0, 3, 0, -0.0}, {6, 2});
  for (const bool replacement : {true, false}) {
    const Tensor samples = ops::multinomial(rows, 1, replacement, Generator(seed));
    check_error([&] { integers(samples); }, {"[multinomial]", "weight"});
    CHECK(integers(samples) == std::vector<std::int64_t>{-1, -1, -1, -1, 1, -1});
  }
  CHECK(ops::multinomial(ones({0, 3}), 2, true, Generator(seed)).shape() == Shape{0, 2});
  CHECK(ops::multinomial(ones({0, 3}), 2, false, Generator(seed)).shape() == Shape{0, 2});
}

TEST_CASE("multinomial: the error says what is wrong with the weights") {
  const auto drawn_of = [](const std::vector<double>& row) {
    return [=] { integers(ops::multinomial(tensor_of(row, {2}), 1, true, Generator(seed))); };
  };
  check_error(drawn_of({0, 0}), {"[multinomial]", "no weight of a row is above 0"});
  for (const double wrong : {-1.0, nan, inf})
    check_error(drawn_of({1, wrong}), {"[multinomial]", "a weight is negative, infinite or NaN"});
}

TEST_CASE("multinomial and sample_logits: the same seed gives the same samples") {
  const Tensor w = tensor_of(weights, {2, 5});
  manual_seed(seed);
  for (const bool replacement : {true, false}) {
    manual_seed(seed);
    const std::vector<std::int64_t> first = integers(ops::multinomial(w, 2, replacement));
    const std::vector<std::int64_t> next = integers(ops::sample_logits(w, 0.8, 3));
    const Generator generator(seed);
    CHECK(integers(ops::multinomial(w, 2, replacement, generator)) == first);
    CHECK(integers(ops::sample_logits(w, 0.8, 3, generator)) == next);
  }
}

TEST_CASE("sample_logits: temperature 0 and top_k 1 take the largest") {
  const std::vector<double> logits{1, 3, 3, -2, 0, -inf, 7, 2, 7.5, 7.25, 7.25, -1, 0, 0, 0};
  for (const testing::Layout layout : all_layouts) {
    const Tensor x = view_of(logits, {3, 5}, layout);
    const Generator generator(seed);
    for (const double temperature : {0.0, 1e-60})
      CHECK(integers(ops::sample_logits(x, temperature, 0, generator)) == std::vector<std::int64_t>{1, 3, 0});
    CHECK(generator.state() == GeneratorState{seed, 0});
    CHECK(integers(ops::sample_logits(x, 5, 1, generator)) == std::vector<std::int64_t>{1, 3, 0});
    CHECK(generator.state() == GeneratorState{seed, 1});
  }
  const Tensor single = ops::sample_logits(tensor_of({1, 5, 2}, {3}), 0);
  CHECK(single.shape() == Shape{});
  CHECK(single.item<std::int64_t>() == 1);
  CHECK(ops::sample_logits(ones({0, 3})).shape() == Shape{0});
  CHECK(ops::sample_logits(ones({0, 3}), 0).shape() == Shape{0});
}

TEST_CASE("sample_logits: frequencies are those of the softmax, of the largest only") {
  const testing::MustRun variants("sample_logits", {testing::on_cpus("runs"), "elements"});
  const std::vector<double> logits{0.5, -1, 2, 1.5, -inf, 0.25, 1.75};
  const Tensor rows = ops::expand(tensor_of(logits, {1, 7}), {draws(), 7});
  const Generator generator(seed);
  for (const double temperature : {0.5, 1.0, 3.0}) {
    CAPTURE(temperature);
    check_distribution(integers(ops::sample_logits(rows, temperature, 0, generator)), softmax_of(logits, temperature));
    std::vector<double> three = logits;
    for (double& x : three)
      if (x < 1.5) x = -inf;
    testing::for_each_variant(variants, [&] {
      const Tensor samples = ops::sample_logits(rows, temperature, 3, generator);
      check_distribution(integers(samples), softmax_of(three, temperature));
    });
  }
  // Logits that are far apart at a tiny temperature, and logits far from 0.
  const Tensor far = tensor_of({1e30, -1e30, 2e30, 1e4, 1.0001e4, 9e3}, {2, 3});
  CHECK(integers(ops::sample_logits(far, 1e-30, 0, generator)) == std::vector<std::int64_t>{2, 1});
}

TEST_CASE("sample_logits: rows without a distribution give -1") {
  const Tensor x = tensor_of({0, nan, 1, inf, 0, 1, -inf, -inf, -inf, 5, -inf, -inf}, {4, 3});
  for (const std::int64_t top_k : {0, 2})
    CHECK(integers(ops::sample_logits(x, 1, top_k, Generator(seed))) == std::vector<std::int64_t>{-1, -1, -1, 0});
}

TEST_CASE("sampling refuses what does not fit, and draws nothing") {
  const Generator generator(seed);
  const Tensor w = ones({2, 3});
  const auto draw = [&](const Tensor& x, std::int64_t count, bool replacement) {
    return [=] { ops::multinomial(x, count, replacement, generator); };
  };
  check_error(draw(Tensor(), 1, true), {"[multinomial]", "undefined"});
  check_error(draw(w.to(DType::i32), 1, true), {"[multinomial]", "i32"});
  check_error(draw(ones({1, 2, 3}), 1, true), {"[multinomial]", "(1, 2, 3)"});
  check_error(draw(ones({}), 1, true), {"[multinomial]", "()"});
  check_error(draw(ones({2, 0}), 1, true), {"[multinomial]", "0 categories"});
  check_error(draw(ops::expand(ones({1}), {(1 << 24) + 1}), 1, true), {"[multinomial]", "2^24"});
  check_error(draw(w, 0, true), {"[multinomial]", "num_samples is 0"});
  check_error(draw(w, 4, false), {"[multinomial]", "num_samples is 4", "3"});
  const auto sample = [&](const Tensor& x, double temperature, std::int64_t top_k) {
    return [=] { ops::sample_logits(x, temperature, top_k, generator); };
  };
  check_error(sample(Tensor(), 1, 0), {"[sample_logits]", "undefined"});
  check_error(sample(w.to(DType::i64), 1, 0), {"[sample_logits]", "i64"});
  check_error(sample(ones({1, 2, 3}), 1, 0), {"[sample_logits]", "(1, 2, 3)"});
  check_error(sample(ones({2, 0}), 1, 0), {"[sample_logits]", "no classes", "(2, 0)"});
  check_error(sample(w, -0.5, 0), {"[sample_logits]", "temperature is -0.5"});
  check_error(sample(w, nan, 0), {"[sample_logits]", "temperature is nan"});
  check_error(sample(w, inf, 0), {"[sample_logits]", "temperature is inf"});
  check_error(sample(w, 1, 4), {"[sample_logits]", "top_k is 4", "[0, 3]"});
  check_error(sample(w, 1, -1), {"[sample_logits]", "top_k is -1"});
  CHECK(generator.state() == GeneratorState{seed, 0});
}

TEST_CASE("child: samples are checked" * doctest::skip()) {
  check_error(
      [] {
        ops::multinomial(zeros({2, 3}), 1, true, Generator(seed));
      },
      {"[multinomial]", "no weight of a row is above 0"});
  CHECK(integers(ops::multinomial(ones({2, 1}), 1, true, Generator(seed))) == std::vector<std::int64_t>{0, 0});
}

TEST_CASE("CRISOL_CHECK_INDICES finds rows from which nothing can be drawn") {
  const testing::ProcessResult result =
      testing::run_child("child: samples are checked", {{"CRISOL_CHECK_INDICES", "1"}});
  INFO(result.output);
  CHECK(result.status == 0);
}

}  // namespace crisol
