#include "crisol/ops/dropout.h"

#include <cmath>
#include <string>

#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

// 1 where the uniform numbers of the same draw are at least p.
std::vector<double> expected_mask(const Shape& shape, double p, const GeneratorState& state) {
  Generator generator(0);
  generator.set_state(state);
  std::vector<double> mask;
  for (const float u : rand(shape, generator).to_vector<float>()) mask.push_back(u >= p ? 1 : 0);
  return mask;
}

std::vector<double> scaled(const std::vector<double>& values, const std::vector<double>& mask, double scale) {
  std::vector<double> result;
  for (std::size_t i = 0; i < values.size(); ++i) result.push_back(mask[i] == 0 ? 0 : values[i] * scale);
  return result;
}

}  // namespace

TEST_CASE("dropout: forward and backward follow the generator's uniform numbers") {
  Generator generator(42);
  for (const Shape& shape : {Shape{7, 3}, Shape{1}, Shape{}, Shape{0, 2}, Shape{2, 3, 4}, Shape{515}}) {
    CAPTURE(shape);
    const auto x = random_values(1, shape.numel()), dy = random_values(2, shape.numel());
    for (const double p : {0.0, 0.3, 0.5, 1.0}) {
      CAPTURE(p);
      const double scale = p == 1 ? 0 : 1 / (1 - p);
      for (const Layout layout : all_layouts) {
        CAPTURE(std::string(name_of(layout)));
        const auto mask = expected_mask(shape, p, generator.state());
        const auto result = ops::dropout(view_of(x, shape, layout), p, generator);
        check_close(result.mask, shape, mask, {0});
        check_close(result.y, shape, scaled(x, mask, scale), {2});
        check_close(ops::dropout_backward(view_of(dy, shape, layout), result.mask, p), shape, scaled(dy, mask, scale),
                    {2});
      }
    }
  }
}

TEST_CASE("dropout: keeps the share and the mean; draws anew each time") {
  const std::int64_t n = slow_device() ? 4000 : 100000;
  Generator generator(3);
  const auto first = ops::dropout(ones({n}), 0.2, generator);
  double kept = 0;
  for (const double value : values_of(first.mask)) kept += value;
  CHECK(std::abs(kept / static_cast<double>(n) - 0.8) < 5 * std::sqrt(0.16 / static_cast<double>(n)));
  CHECK(values_of(ops::dropout(ones({n}), 0.2, generator).mask) != values_of(first.mask));
}

TEST_CASE("dropout: what is dropped is multiplied by 0") {
  const auto result = ops::dropout(tensor_of({INFINITY, NAN, 1}, {3}), 1, Generator(1));
  check_close(result.y, {NAN, NAN, 0}, {0});
  check_close(ops::dropout_backward(tensor_of({1, INFINITY}, {2}), zeros({2}, DType::u8), 0.5), {0, NAN}, {0});
}

TEST_CASE("dropout: refusals leave the generator as it was") {
  Generator generator(5);
  const Tensor x = ones({2});
  check_error([&] { ops::dropout(x, -0.1, generator); }, {"[dropout]", "p", "-0.1"});
  check_error([&] { ops::dropout(x, 1.1, generator); }, {"[dropout]", "1.1"});
  check_error([&] { ops::dropout(x, NAN, generator); }, {"[dropout]", "nan"});
  check_error([&] { ops::dropout(zeros({2}, DType::i32), 0.5, generator); }, {"[dropout]", "i32"});
  CHECK(generator.state() == GeneratorState{5, 0});
  const Tensor mask = zeros({2}, DType::u8);
  check_error([&] { ops::dropout_backward(ones({3}), mask, 0.5); }, {"[dropout_backward]", "(2)", "(3)"});
  check_error([&] { ops::dropout_backward(x, x, 0.5); }, {"[dropout_backward]", "mask", "f32"});
  check_error([&] { ops::dropout_backward(x, mask, 2); }, {"[dropout_backward]", "2"});
}
