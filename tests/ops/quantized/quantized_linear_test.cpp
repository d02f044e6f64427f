// Weights in 8 and 4 bits, compared with a reference in double that decodes the same codes.
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>

#include "base/text.h"
#include "crisol/crisol.h"
#include "crisol/ops/quantized.h"
#include "dispatch/target.h"
#include "doctest/doctest.h"
#include "ops/quantized/byte_products.h"
#include "reference/matmul.h"
#include "support/compare.h"
#include "support/coverage.h"
#include "support/gradcheck.h"
#include "support/skip.h"

namespace crisol {

namespace {

using testing::bytes_gfni_on_cpus;
using testing::bytes_on_cpus;
using testing::check_close;
using testing::check_error;
using testing::for_each_variant;
using testing::MustRun;
using testing::on_cpus;
using testing::random_integers;
using testing::random_values;
using testing::some;
using testing::tensor_of;
using testing::values_of;

/// The elements of a weight, from its parts as QuantizedWeight describes them.
std::vector<double> decoded(const QuantizedWeight& weight) {
  const std::vector<std::uint8_t> codes = weight.codes().to_vector<std::uint8_t>();
  const std::vector<double> scales = values_of(weight.scales());
  const std::vector<double> zeros =
      weight.zero_points().defined() ? values_of(weight.zero_points()) : std::vector<double>();
  const std::int64_t blocks = weight.scales().size(1), bytes = weight.codes().size(1);
  std::vector<double> elements;
  for (std::int64_t row = 0; row < weight.rows(); ++row)
    for (std::int64_t column = 0; column < weight.columns(); ++column) {
      const auto block = static_cast<std::size_t>(row * blocks + (weight.block() == 0 ? 0 : column / weight.block()));
      const std::int64_t place = column % 32;
      double code = 0;
      if (weight.bits() == 8) {
        code = codes[static_cast<std::size_t>(row * bytes + column)];
      } else {
        const int both = codes[static_cast<std::size_t>(row * bytes + column / 32 * 16 + place % 16)];
        code = place < 16 ? both % 16 : both / 16;
      }
      const double zero = zeros.empty() ? (weight.bits() == 8 ? 128 : 8) : zeros[block];
      elements.push_back(scales[block] * (code - zero));
    }
  return elements;
}

const std::vector<QuantizeOptions>& formats() {
  static const std::vector<QuantizeOptions> all = [] {
    std::vector<QuantizeOptions> made;
    for (const int bits : {8, 4})
      for (const std::int64_t block : {0, 16, 32, 64, 96, 128, 256})
        for (const bool symmetric : {true, false}) made.push_back({bits, block, symmetric});
    return made;
  }();
  return all;
}

}  // namespace

TEST_CASE("quantize: the nearest codes in every format, for odd sizes") {
  for (const QuantizeOptions& format : formats())
    for (const Shape& shape : {Shape{1, 1}, Shape{3, 33}, Shape{5, 300}}) {
      CAPTURE(format.bits);
      CAPTURE(format.block);
      CAPTURE(format.symmetric);
      CAPTURE(shape);
      const std::vector<double> values = random_values(1, shape.numel());
      const QuantizedWeight weight = quantize(tensor_of(values, shape), format);
      CHECK(weight.rows() == shape[0]);
      CHECK(weight.columns() == shape[1]);
      CHECK(weight.zero_points().defined() == !format.symmetric);
      const std::vector<double> elements = decoded(weight);
      check_close(weight.dequantize(), shape, elements, {1, 1});
      // Values and zero points are rounded, so an element is wrong by at most a scale. Values are in [-1, 1].
      const double most = format.symmetric ? 0.5 / ((1 << (format.bits - 1)) - 1) : 2.0 / ((1 << format.bits) - 1);
      for (std::size_t i = 0; i < values.size(); ++i) CHECK(std::abs(elements[i] - values[i]) <= most * 1.001);
    }
}

TEST_CASE("quantized_linear: every variant, in every format") {
  const MustRun few("quantized_linear", {on_cpus("cpu_rows"), "rows", "pieces"});
  const MustRun few_of_short_rows("quantized_linear", {"rows", "pieces"});
  const MustRun many("quantized_linear", {"pieces"});
  const struct {
    std::int64_t m, n, k;
  } sizes[] = {{1, 1, 1}, {1, 7, 70}, {2, 5, 128}, {3, 9, 257}, {8, 3, 65}, {9, 21, 130}, {33, 37, 96}};
  int turn = 0;
  for (const QuantizeOptions& format : formats())
    for (const auto& [m, n, k] : sizes) {
      // Each format takes one of the sizes, and each size comes with several formats. A program takes long to compile.
      if (++turn % (testing::slow_device() ? 24 : 8) != 0) continue;
      CAPTURE(format.bits);
      CAPTURE(format.block);
      CAPTURE(format.symmetric);
      CAPTURE(m);
      CAPTURE(n);
      CAPTURE(k);
      const QuantizedWeight weight = quantize(tensor_of(random_values(1, n * k), {n, k}), format);
      const std::vector<double> x = random_values(2, m * k), bias = random_values(3, n);
      const bool has_bias = n != 5;
      const reference::Product y =
          reference::linear(x, {m, k}, decoded(weight), {n, k}, has_bias ? bias : std::vector<double>());
      const bool is_short = weight.bits() == 4 && k <= 32;  // Shorter than a vector of cpu_rows.
      for_each_variant(
          m > 8      ? many
          : is_short ? few_of_short_rows
                     : few,
          [&] {
            check_close(ops::quantized_linear(tensor_of(x, {m, k}), weight, has_bias ? tensor_of(bias, {n}) : Tensor()),
                        y.shape, y.values, {2, 1.1 * static_cast<double>(k + 1)});
          });
    }
}

TEST_CASE("quantized_linear: one row, every variant that reads whole vectors of codes") {
  const MustRun variants("quantized_linear",
                         {some(12, bytes_gfni_on_cpus()), bytes_on_cpus(), on_cpus("cpu_rows"), "rows", "pieces"});
  const struct {
    QuantizeOptions format;
    std::int64_t n, k;
  } cases[] = {{{8, 32, true}, 37, 320}, {{8, 16, false}, 5, 192}, {{8, 64, false}, 4, 1152},
               {{8, 128, true}, 3, 384}, {{8, 0, false}, 9, 448},  {{4, 32, true}, 43, 640},
               {{4, 32, false}, 2, 256}, {{4, 64, true}, 8, 384},  {{4, 128, false}, 6, 2176},
               {{4, 256, true}, 1, 512}, {{4, 0, true}, 11, 384}};
  for (const auto& [format, n, k] : cases) {
    if (testing::slow_device() && n * k > 512) continue;  // One case is left.
    CAPTURE(format.bits);
    CAPTURE(format.block);
    CAPTURE(format.symmetric);
    const QuantizedWeight weight = quantize(tensor_of(random_values(1, n * k), {n, k}), format);
    const std::vector<double> elements = decoded(weight), bias = random_values(3, n);
    std::vector<double> x = random_values(2, k);
    const auto check = [&] {
      const reference::Product y = reference::linear(x, {1, k}, elements, {n, k}, bias);
      for_each_variant(variants, [&] {
        check_close(ops::quantized_linear(tensor_of(x, {1, k}), weight, tensor_of(bias, {n})), y.shape, y.values,
                    {2, 1.1 * static_cast<double>(k + 1)});
      });
    };
    check();
    // Of the largest numbers below a power of two, the nearest ones with 24 bits may need one bit more.
    x[0] = std::nextafter(1.0F, 0.0F);
    x[1] = -x[0];
    x[40] = 1 - 1.0 / 512;
    check();
    x[static_cast<std::size_t>(k) - 3] = std::numeric_limits<double>::infinity();
    check();
    x[5] = std::numeric_limits<double>::quiet_NaN();
    check();
  }
}

TEST_CASE("quantized_linear: CPUs that multiply bytes in one instruction do so") {
  std::ifstream processor("/proc/cpuinfo");
  const std::string text((std::istreambuf_iterator<char>(processor)), {});
  const std::string found = ops::found_byte_products(Device().state()).found;
  const bool is_cpu = Device().info().type == DeviceType::cpu && !dispatch::traits_of(Device().state()).simulated;
  if (text.empty()) return;
  const auto has = [&](const char* flag) { return is_cpu && text.find(concat(' ', flag)) != std::string::npos; };
  const bool has_gfni = has("gfni") && has("avx512_vbmi2");
  CHECK(found == (!has("avx512_vnni") ? "none" : has_gfni ? "vpdpbusd_gfni" : "vpdpbusd"));
}

TEST_CASE("quantized_linear: one row of very small or large numbers keeps 24 bits of each side") {
  const MustRun variants("quantized_linear",
                         {some(3, bytes_gfni_on_cpus()), bytes_on_cpus(), on_cpus("cpu_rows"), "rows", "pieces"});
  constexpr std::int64_t n = 5, k = 256;
  for (const int bits : {8, 4}) {
    if (testing::slow_device() && bits == 8) continue;
    CAPTURE(bits);
    std::vector<double> values = random_integers(1, n * k, -7, 7);
    for (std::int64_t i = 0; i < n; ++i) values[static_cast<std::size_t>(i * k)] = bits == 8 ? 127 : 7;
    const QuantizedWeight weight = quantize(tensor_of(values, {n, k}), {bits, 0, true});
    REQUIRE(values_of(weight.dequantize()) == values);  // The scale is 1.
    for (const double unit : {1.0, std::ldexp(1.0, -99), std::ldexp(1.0, 100)}) {
      CAPTURE(unit);
      std::vector<double> x(static_cast<std::size_t>(k));
      x[3] = -8355711 * unit;  // The largest number of three bytes.
      x[7] = unit;
      x[77] = 5592405 * unit;
      const reference::Product y = reference::linear(x, {1, k}, values, {n, k}, {});
      for_each_variant(variants, [&](const char* variant) {
        // cpu_rows subtracts 128 times the sum of x from a sum.
        const double factor = variant == std::string("cpu_rows") ? 128 : 2;
        check_close(linear(tensor_of(x, {1, k}), weight), y.shape, y.values, {factor});
      });
    }
  }
}

TEST_CASE("quantized_linear: views, leading axes, half precision, empty inputs") {
  const QuantizedWeight weight = quantize(tensor_of(random_values(1, 7 * 40), {7, 40}), {4, 32, false});
  const std::vector<double> x = random_values(2, 2 * 3 * 40);
  const reference::Product y = reference::linear(x, {2, 3, 40}, decoded(weight), {7, 40}, {});
  for (const testing::Layout layout : testing::all_layouts)
    check_close(linear(testing::view_of(x, {2, 3, 40}, layout), weight), y.shape, y.values, {2, 44});
  const Tensor half = tensor_of(x, {2, 3, 40}, DType::f16);
  const Tensor result = linear(half, weight);
  CHECK(result.dtype() == DType::f16);
  const reference::Product of_half = reference::linear(values_of(half), {2, 3, 40}, decoded(weight), {7, 40}, {});
  check_close(result, of_half.shape, of_half.values, {8 * 8192, 44});
  CHECK(linear(zeros({0, 40}), weight).shape() == Shape{0, 7});
}

TEST_CASE("QuantizedWeight reads the blocks of llama.cpp") {
  std::vector<std::uint8_t> q8(2 * 34), q4(2 * 18);
  for (std::size_t b = 0; b < 2; ++b) {
    q8[b * 34 + 1] = q4[b * 18 + 1] = b == 0 ? 0x38 : 0xC0;  // 0.5 and -2 in f16.
    for (std::size_t i = 0; i < 32; ++i) q8[b * 34 + 2 + i] = static_cast<std::uint8_t>(i * 37 + b);
    for (std::size_t i = 0; i < 16; ++i) q4[b * 18 + 2 + i] = static_cast<std::uint8_t>(i * 73 + b);
  }
  std::vector<double> of_q8, of_q4;
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t i = 0; i < 32; ++i) {
      const double scale = b == 0 ? 0.5 : -2;
      of_q8.push_back(scale * static_cast<std::int8_t>(q8[b * 34 + 2 + i]));
      const int both = q4[b * 18 + 2 + i % 16];
      of_q4.push_back(scale * ((i < 16 ? both & 15 : both >> 4) - 8));
    }
  for (const Shape& shape : {Shape{1, 64}, Shape{2, 32}}) {
    check_close(QuantizedWeight::from_q8_0(q8.data(), q8.size(), shape).dequantize(), shape, of_q8, {0});
    check_close(QuantizedWeight::from_q4_0(q4.data(), q4.size(), shape).dequantize(), shape, of_q4, {0});
  }
  check_error([&] { QuantizedWeight::from_q8_0(q8.data(), 67, {2, 32}); }, {"[from_q8_0]", "67 bytes", "68 expected"});
  check_error([&] { QuantizedWeight::from_q4_0(q4.data(), 36, {2, 33}); }, {"[from_q4_0]", "33"});
}

TEST_CASE("QuantizedLinear: the state, gradients, and what is refused") {
  for (const bool with_bias : {true, false}) {
    const nn::Linear plain(40, 6, with_bias);
    nn::QuantizedLinear layer = nn::quantize(plain, {4, 32, false});
    const Tensor x = randn({3, 40});
    CHECK(layer.state_dict().size() == (with_bias ? 4 : 3));
    nn::QuantizedLinear other(40, 6, {4, 32, false}, with_bias);
    other.load_state_dict(layer.state_dict());
    CHECK(other(x).to_vector<float>() == layer(x).to_vector<float>());
    check_close(layer(x), values_of(linear(x, layer.weight().dequantize(), layer.bias)), {8, 40});
  }
  const QuantizedWeight weight = quantize(tensor_of(random_values(1, 5 * 33), {5, 33}), {8, 0});
  testing::check_gradients([&](const std::vector<Tensor>& in) { return linear(in[0], weight, in[1]); },
                           {tensor_of(random_values(2, 2 * 33), {2, 33}), tensor_of(random_values(3, 5), {5})});
  check_error([] { quantize(ones({2, 2}), {3, 0}); }, {"[quantize]", "bits is 3"});
  check_error([] { quantize(ones({2, 2}), {4, 33}); }, {"[quantize]", "block is 33"});
  check_error([] { quantize(ones({2, 2, 2})); }, {"[quantize]", "(2, 2, 2)"});
  check_error([] { quantize(ones({2, 2}) / 0.0); }, {"[quantize]", "inf"});
  check_error([&] { linear(ones({2, 32}), weight); }, {"[quantized_linear]", "(2, 32)", "33"});
  check_error([&] { linear(ones({2, 33}), weight, ones({4})); }, {"[quantized_linear]", "bias"});
  check_error(
      [] {
        QuantizedWeight::from_codes({3, 17}, {1}, {}, {1, 2}, 4, 0);
      },
      {"[from_codes]", "codes have 17", "4"});
  check_error([] { QuantizedWeight::from_codes({3, 7}, {1}, {16}, {1, 2}, 4, 0); }, {"[from_codes]", "points have 16"});
  check_error([&] { QuantizedWeight(weight.codes(), weight.scales(), Tensor(), 65, 8, 0); }, {"[QuantizedWeight]"});
}

}  // namespace crisol
