#include "crisol/random.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>

#include "base/philox.h"
#include "crisol/error.h"
#include "doctest/doctest.h"
#include "support/skip.h"

using namespace crisol;

namespace {

constexpr std::uint64_t seed = 0x1234567890abcdefu;
// The lower half of the counter overflows within the first draws.
constexpr GeneratorState late{seed, 0xfffffffeu};

std::vector<std::uint32_t> words_of(const GeneratorState& state, std::int64_t n) {
  std::vector<std::uint32_t> words;
  for (std::int64_t i = 0; i < n; ++i)
    words.push_back(philox_word(state.seed, state.counter, static_cast<std::uint64_t>(i)));
  return words;
}

Generator generator_at(const GeneratorState& state) {
  Generator generator(0);
  generator.set_state(state);
  return generator;
}

// Box-Muller in double, from the words that the device uses. The radius' uniform number is rounded to float, as on the
// device.
double normal_of(const std::vector<std::uint32_t>& words, std::size_t i) {
  const std::size_t pair = i / 2 * 2;
  const double u = static_cast<float>(words[pair]) * 0x1p-32f + 0x1p-33f;
  const double angle = 2 * std::acos(-1.0) * (words[pair + 1] >> 8) * 0x1p-24;
  return std::sqrt(-2 * std::log(u)) * (i % 2 == 0 ? std::cos(angle) : std::sin(angle));
}

}  // namespace

TEST_CASE("random: Philox gives the published known answers") {
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) == PhiloxBlock{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u});
  CHECK(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) ==
        PhiloxBlock{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu});
  CHECK(philox4x32({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, {0xa4093822u, 0x299f31d0u}) ==
        PhiloxBlock{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u});
}

TEST_CASE("random: the device gives Philox' words") {
  const std::vector<std::int64_t> first =
      randint(0, std::int64_t{1} << 32, {4}, Generator(0)).to_vector<std::int64_t>();
  CHECK(first == std::vector<std::int64_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  for (const std::int64_t n : {1, 2, 3, 4, 259}) {
    CAPTURE(n);
    const std::vector<std::int64_t> values =
        randint(0, std::int64_t{1} << 32, {n}, generator_at(late)).to_vector<std::int64_t>();
    const std::vector<std::uint32_t> words = words_of(late, n);
    CHECK(values == std::vector<std::int64_t>(words.begin(), words.end()));
  }
}

TEST_CASE("random: integers, uniform and bernoulli have the specified bits") {
  constexpr std::int64_t n = 1027;
  const std::vector<std::uint32_t> words = words_of(late, n);
  const auto check = [&](const auto& values, auto expected) {
    REQUIRE(values.size() == words.size());
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < words.size(); ++i) wrong += values[i] != expected(words[i]);
    CHECK(wrong == 0);
  };
  check(rand({13, 79}, generator_at(late)).to_vector<float>(),
        [](std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; });
  check(bernoulli(0.3, {n}, generator_at(late)).to_vector<float>(),
        [](std::uint32_t word) { return (word >> 8) * 0x1p-24 < 0.3 ? 1.0f : 0.0f; });
  check(randint(-7, 1000, {n}, generator_at(late), DType::i32).to_vector<std::int32_t>(), [](std::uint32_t word) {
    return static_cast<std::int32_t>(-7 + static_cast<std::int64_t>((std::uint64_t{1007} * word) >> 32));
  });
  check(randint(-7, 1000, {n}, generator_at(late)).to_vector<std::int64_t>(),
        [](std::uint32_t word) { return -7 + static_cast<std::int64_t>((std::uint64_t{1007} * word) >> 32); });
  constexpr std::int64_t lowest = std::numeric_limits<std::int32_t>::min();
  check(randint(lowest, -lowest, {n}, generator_at(late), DType::i32).to_vector<std::int32_t>(),
        [](std::uint32_t word) { return static_cast<std::int32_t>(lowest + word); });
  check(bernoulli(0, {n}, generator_at(late)).to_vector<float>(), [](std::uint32_t) { return 0.0f; });
  check(bernoulli(1, {n}, generator_at(late)).to_vector<float>(), [](std::uint32_t) { return 1.0f; });
}

TEST_CASE("random: normal numbers are within 4 ulp of the formula") {
  const std::int64_t n = testing::slow_device() ? 2001 : 200001;
  const std::vector<float> values = randn({n}, generator_at(late)).to_vector<float>();
  const std::vector<std::uint32_t> words = words_of(late, (n + 3) / 4 * 4);
  double worst = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double exact = normal_of(words, i);
    const double ulp = std::ldexp(1.0, std::ilogb(exact) - 23);
    worst = std::max(worst, std::abs(values[i] - exact) / ulp);
  }
  CHECK(worst < 4);
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(n);
  double square = 0;
  for (const float value : values) square += (value - mean) * (value - mean);
  CHECK(std::abs(mean) < 5 / std::sqrt(static_cast<double>(n)));
  CHECK(std::abs(square / static_cast<double>(n) - 1) < 5 * std::sqrt(2.0 / static_cast<double>(n)));
}

TEST_CASE("random: the state can be read, set and goes on from draw to draw") {
  Generator generator(seed);
  CHECK(generator.state() == GeneratorState{seed, 0});
  const std::vector<float> first = rand({5}, generator).to_vector<float>();
  CHECK(generator.state() == GeneratorState{seed, 2});
  const Generator same = generator;
  const std::vector<float> second = rand({5}, same).to_vector<float>();
  CHECK(generator.state() == GeneratorState{seed, 4});
  CHECK(first != second);
  generator.set_state({seed, 2});
  CHECK(rand({5}, generator).to_vector<float>() == second);
  generator.manual_seed(seed);
  CHECK(rand({5}, generator).to_vector<float>() == first);
  generator.manual_seed(seed + 1);
  CHECK(rand({5}, generator).to_vector<float>() != first);
  CHECK(rand({0, 3}, generator).numel() == 0);
  CHECK(rand({}, generator).item() < 1);
}

TEST_CASE("random: default generators belong to their thread") {
  manual_seed(7);
  const std::vector<float> first = rand({8}).to_vector<float>();
  CHECK(first == rand({8}, Generator(7)).to_vector<float>());
  std::vector<float> other, seeded;
  std::thread([&] {
    other = rand({8}).to_vector<float>();
    manual_seed(7);
    seeded = rand({8}).to_vector<float>();
  }).join();
  CHECK(other != first);
  CHECK(seeded == first);
  CHECK(default_generator().state() == GeneratorState{7, 2});
  manual_seed(7);
  CHECK(rand({8}).to_vector<float>() == first);
}

TEST_CASE("random: randperm is the specified shuffle") {
  for (const std::int64_t n : {0, 1, 2, 5, 100}) {
    CAPTURE(n);
    const Generator generator = generator_at(late);
    std::vector<std::int64_t> expected(static_cast<std::size_t>(n));
    std::iota(expected.begin(), expected.end(), 0);
    const std::vector<std::uint32_t> words = words_of(late, n);
    std::size_t used = 0;
    for (std::size_t i = expected.size(); i-- > 1;)
      std::swap(expected[i], expected[(std::uint64_t{words[used++]} * (i + 1)) >> 32]);
    CHECK(randperm(n, generator).to_vector<std::int64_t>() == expected);
    CHECK(generator.state().counter == late.counter + static_cast<std::uint64_t>((n + 3) / 4));
    std::sort(expected.begin(), expected.end());
    for (std::int64_t i = 0; i < n; ++i) CHECK(expected[static_cast<std::size_t>(i)] == i);
  }
}

TEST_CASE("random: in place") {
  Tensor t = zeros({3, 5});
  uniform_(t, -2, 3, generator_at(late));
  const std::vector<std::uint32_t> words = words_of(late, 16);
  const std::vector<float> values = t.to_vector<float>();
  for (std::size_t i = 0; i < values.size(); ++i)
    CHECK(values[i] == std::fmaf(static_cast<float>(words[i] >> 8) * 0x1p-24f, 5, -2));
  normal_(t, 10, 0.5, generator_at(late));
  const std::vector<float> normal = t.to_vector<float>();
  for (std::size_t i = 0; i < normal.size(); ++i) CHECK(normal[i] == doctest::Approx(10 + 0.5 * normal_of(words, i)));

  Tensor whole = zeros({5, 3});
  Tensor transposed = whole.transpose(0, 1);
  uniform_(transposed, -2, 3, generator_at(late));
  CHECK(transposed.to_vector<float>() == values);
  CHECK(whole.to_vector<float>() != values);

  // Rounding must not reach the upper bound.
  Tensor narrow = zeros({testing::slow_device() ? 1000 : 100000});
  uniform_(narrow, 1, 1 + 0x1p-22, generator_at(late));
  const std::vector<float> near = narrow.to_vector<float>();
  CHECK(*std::max_element(near.begin(), near.end()) < 1 + 0x1p-22f);
  CHECK(*std::min_element(near.begin(), near.end()) == 1);
  uniform_(narrow, 4, 4);
  CHECK(narrow.to_vector<float>() == std::vector<float>(near.size(), 4.0f));
}

TEST_CASE("random: refusals leave tensor and generator as they were") {
  Generator generator(seed);
  Tensor t = ones({3});
  Tensor whole = zeros({3}, DType::i32);
  CHECK_THROWS_WITH_AS(randint(3, 3, {2}, generator), "[randint] low 3 must be below high 3", Error);
  CHECK_THROWS_AS(randint(0, (std::int64_t{1} << 32) + 1, {2}, generator), Error);
  CHECK_THROWS_AS(randint(0, std::int64_t{1} << 32, {2}, generator, DType::i32), Error);
  CHECK_THROWS_AS(randint(0, 5, {2}, generator, DType::f32), Error);
  CHECK_THROWS_AS(bernoulli(-0.1, {2}, generator), Error);
  CHECK_THROWS_AS(bernoulli(1.5, {2}, generator), Error);
  CHECK_THROWS_AS(bernoulli(std::nan(""), {2}, generator), Error);
  CHECK_THROWS_AS(randperm(-1, generator), Error);
  CHECK_THROWS_AS(rand({2, -1}, generator), Error);
  CHECK_THROWS_AS(uniform_(t, 2, 1, generator), Error);
  CHECK_THROWS_AS(uniform_(t, 0, INFINITY, generator), Error);
  CHECK_THROWS_AS(uniform_(whole, 0, 1, generator), Error);
  CHECK_THROWS_AS(normal_(t, 0, -1, generator), Error);
  CHECK_THROWS_AS(normal_(whole, 0, 1, generator), Error);
  CHECK(t.to_vector<float>() == std::vector<float>{1, 1, 1});
  CHECK(generator.state() == GeneratorState{seed, 0});
}
