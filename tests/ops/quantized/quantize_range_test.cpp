// Numbers that are quantised by their range, against the definition of ONNX's DynamicQuantizeLinear.
#include "ops/quantized/quantize_range.h"

#include <algorithm>
#include <cmath>

#include "crisol/functions/cat.h"
#include "crisol/functions/elementwise.h"
#include "crisol/random.h"
#include "dispatch/target.h"
#include "doctest/doctest.h"
#include "support/compare.h"

using namespace crisol;

namespace {

void check(const Tensor& x) {
  const std::vector<float> values = x.to_vector<float>();
  float low = 0, high = 0;
  for (const float v : values) low = std::min(low, v), high = std::max(high, v);
  const float scale = high == low ? 1 : (high - low) / 255;
  const float zero = std::nearbyint(std::clamp(-low / scale, 0.0f, 255.0f));
  const ops::RangeQuantized y = ops::quantize_range(x);
  CHECK(y.numbers.shape() == x.shape());
  CHECK(y.scale.shape() == Shape());
  CHECK(y.scale.item() == doctest::Approx(scale).epsilon(1e-6));
  CHECK(y.zero.item<int>() == zero);
  const auto numbers = y.numbers.to_vector<std::uint8_t>();
  // A quotient that is nearly in the middle may go to both sides.
  bool are_right = true;
  for (std::size_t i = 0; i < values.size(); ++i)
    are_right = are_right && std::abs(numbers[i] - std::clamp(values[i] / scale + zero, 0.0f, 255.0f)) < 0.5001f;
  CHECK(are_right);
  const ops::RangeQuantized centred = ops::quantize_range(x, true);
  CHECK(centred.numbers.dtype() == DType::i16);
  const auto differences = centred.numbers.to_vector<std::int16_t>();
  bool are_equal = true;
  for (std::size_t i = 0; i < values.size(); ++i) are_equal = are_equal && differences[i] == numbers[i] - zero;
  CHECK(are_equal);
}

}  // namespace

TEST_CASE("quantize_range: all sizes, signs and layouts") {
  if (!dispatch::target_of(Device().state()).takes_cpu_kernels()) return;
  manual_seed(41);
  for (const std::int64_t count : {1, 7, 16, 33, 1023, 1024, 1025, 20011}) {
    CAPTURE(count);
    check(randn({count}));
    check(rand({count}) + 0.5);
    check(-rand({count}));
  }
  check(randn({30, 40}).t());
  check(zeros({5}));
  check(full({5}, -3e38));
  check(zeros({0, 3}));
  // The extremes are in the last part.
  check(cat({rand({5000}), full({1}, 9.0), full({1}, -4.0)}, 0));
  testing::check_error([] { ops::quantize_range(zeros({3}, DType::i32)); }, {"[quantize_range]", "i32"});
}
