// Element types of ONNX with at most 8 bits that the library does not have.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "onnx/models.h"

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(), no_number = std::numeric_limits<float>::quiet_NaN();

/// The numbers of ONNX's types in files.
enum Type { f8e4m3fn = 17, f8e4m3fnuz, f8e5m2, f8e5m2fnuz, u4, i4, f4e2m1, f8e8m0, u2, i2 };

Proto cast(const std::string& from, const std::string& to, int type, const std::vector<Proto>& more = {}) {
  std::vector<Proto> attributes{attribute("to", static_cast<std::int64_t>(type))};
  attributes.insert(attributes.end(), more.begin(), more.end());
  return node("Cast", {from}, {to}, attributes);
}

/// A model that converts x to a small type and back to f32.
Proto there_and_back(int type, const std::vector<Proto>& attributes = {}) {
  return of::model(of::graph({.nodes = {cast("x", "small", type, attributes), cast("small", "y", of::f32)},
                              .inputs = {value("x", of::f32, {"n"})},
                              .outputs = {value("y", of::f32, {"n"})}}),
                   24);
}

/// The numbers of a tensor "w" in a file.
std::vector<float> all_numbers(const Proto& stored) {
  const Proto file = of::model(of::graph({.nodes = {cast("w", "d", of::f32), node("Add", {"x", "d"}, {"y"})},
                                          .initializers = {stored},
                                          .inputs = {value("x", of::f32, {"1"})},
                                          .outputs = {value("y", of::f32, {"n"})}}),
                               24);
  return ::result(file, zeros({1})).to_vector<float>();
}

/// The numbers of the first codes of a type with 8 bits.
std::vector<float> all_numbers(int type, int codes) {
  std::vector<std::uint8_t> bytes;
  for (int code = 0; code < codes; ++code) bytes.push_back(static_cast<std::uint8_t>(code));
  return all_numbers(of::raw_tensor("w", type, {codes}, bytes));
}

struct Format {
  int type;
  int exponent, fraction, bias;
  float largest;
};

const Format formats[] = {
    {f8e4m3fn, 4, 3, 7, 448}, {f8e4m3fnuz, 4, 3, 8, 240}, {f8e5m2, 5, 2, 15, 57344}, {f8e5m2fnuz, 5, 2, 16, 57344}};

/// The nearest number among those of ascending codes, with the even code in the middle.
double nearest(double x, const std::vector<double>& numbers) {
  std::size_t best = 0;
  for (std::size_t code = 1; code < numbers.size(); ++code) {
    const double old = std::abs(numbers[best] - x), own = std::abs(numbers[code] - x);
    if (own < old || (own == old && code % 2 == 0)) best = code;
  }
  return numbers[best];
}

}  // namespace

TEST_CASE("onnx: stored numbers of 4 bits are dequantised") {
  using Packed = std::vector<std::uint8_t>;
  const Packed numbers{0x80, 0x7F, 0x31}, zeros_of_blocks{0x21, 0x0F};
  const std::vector<float> scales{0.5, 2, 3, 0.25};  // Of two blocks in each of two rows.
  const Proto scale = of::raw_tensor<float>("s", of::f32, {2, 2}, scales);
  for (const bool has_sign : {false, true}) {
    const int type = has_sign ? i4 : u4;
    const Proto zero = of::raw_tensor("z", type, {2, 2}, zeros_of_blocks);
    const Proto dequantise = node("DequantizeLinear", {"w", "s", "z"}, {"d"},
                                  {attribute("axis", std::int64_t{1}), attribute("block_size", std::int64_t{2})});
    const Proto file = of::model(of::graph({.nodes = {dequantise, node("Add", {"x", "d"}, {"y"})},
                                            .initializers = {of::raw_tensor("w", type, {2, 3}, numbers), scale, zero},
                                            .inputs = {value("x", of::f32, {"2", "3"})},
                                            .outputs = {value("y", of::f32, {"2", "3"})}}),
                                 21);
    const std::vector<float> codes =
        has_sign ? std::vector<float>{0, -8, -1, 7, 1, 3} : std::vector<float>{0, 8, 15, 7, 1, 3};
    const std::vector<float> points = has_sign ? std::vector<float>{1, 2, -1, 0} : std::vector<float>{1, 2, 15, 0};
    std::vector<double> expected;
    for (std::size_t i = 0; i < 6; ++i) {
      const std::size_t block = i / 3 * 2 + i % 3 / 2;
      expected.push_back(scales[block] * (codes[i] - points[block]));
    }
    check_close(result(file, zeros({2, 3})), {2, 3}, expected, {0});
  }
}

TEST_CASE("onnx: quantisation to 4 and 2 bits stops at the ends of the type; ops that move elements keep the type") {
  struct Case {
    int type;
    std::uint8_t zero;
    DType kept;
    std::vector<double> expected;
  };
  const Case cases[] = {{u4, 3, DType::u8, {0, 2, 3, 4, 15}},
                        {i4, 15, DType::i8, {-8, -2, -1, 0, 7}},  // 15 is -1.
                        {u2, 1, DType::u8, {0, 0, 1, 2, 3}},
                        {i2, 3, DType::i8, {-2, -2, -1, 0, 1}}};
  for (const Case& c : cases) {
    const Proto zero = of::raw_tensor("z", c.type, {}, std::vector<std::uint8_t>{c.zero});
    const std::vector<Proto> nodes{node("QuantizeLinear", {"x", "s", "z"}, {"q"}),
                                   node("Unsqueeze", {"q", "a"}, {"y"})};
    const Proto file =
        of::model(of::graph({.nodes = nodes,
                             .initializers = {of::raw_tensor<float>("s", of::f32, {}, {0.5}), zero, numbers("a", {0})},
                             .inputs = {value("x", of::f32, {"5"})},
                             .outputs = {value("y", c.type, {"1", "5"})}}),
                  24);
    const Tensor y = result(file, from_vector(std::vector<float>{-100, -0.5, 0, 0.5, 100}));
    CHECK(y.dtype() == c.kept);
    check_close(y.to(DType::f32), {1, 5}, c.expected, {0});
  }
}

TEST_CASE("onnx: a conversion to 4 and 2 bits keeps the lowest bits; inputs and outputs have such types") {
  for (const auto& [type, kept, expected] : {std::tuple{u4, DType::u8, std::vector<double>{7, 15, 0, 7, 8, 0}},
                                             {i4, DType::i8, {7, -1, 0, 7, -8, 0}},
                                             {u2, DType::u8, {3, 3, 0, 3, 0, 0}},
                                             {i2, DType::i8, {-1, -1, 0, -1, 0, 0}}}) {
    const std::vector<float> x{-9, -1, 0.75, 7, 8, 16};
    CHECK(result(there_and_back(type), from_vector(x)).to_vector<float>() ==
          std::vector<float>(expected.begin(), expected.end()));
    const Proto moved = of::model(of::graph({.nodes = {node("Transpose", {"x"}, {"y"})},
                                             .inputs = {value("x", type, {"1", "2"})},
                                             .outputs = {value("y", type, {"2", "1"})}}),
                                  24);
    const Tensor y = result(moved, from_vector(std::vector<float>{1, 0}).to(kept).reshape({1, 2}));
    CHECK(y.dtype() == kept);
    CHECK(loaded(moved).outputs()[0].type == (type == u4 ? "u4" : type == i4 ? "i4" : type == u2 ? "u2" : "i2"));
  }
}

TEST_CASE("onnx: the codes of small floating-point types mean what their formats say") {
  const std::vector<std::uint8_t> pairs{0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE};
  CHECK(all_numbers(of::raw_tensor("w", f4e2m1, {16}, pairs)) ==
        std::vector<float>{0, 0.5F, 1, 1.5F, 2, 3, 4, 6, 0, -0.5F, -1, -1.5F, -2, -3, -4, -6});
  for (const Format& f : formats) {
    const std::vector<float> numbers = all_numbers(f.type, 256);
    const bool is_nuz = f.type == f8e4m3fnuz || f.type == f8e5m2fnuz;
    for (int code = 0; code < 256; ++code) {
      const int rest = code & 127, exponent = rest >> f.fraction, part = rest & ((1 << f.fraction) - 1);
      const double share = static_cast<double>(part) / (1 << f.fraction);
      const double size = exponent == 0 ? std::ldexp(share, 1 - f.bias) : std::ldexp(1 + share, exponent - f.bias);
      const double found = numbers[static_cast<std::size_t>(code)];
      const bool has_no_number = is_nuz ? code == 128 : size > f.largest;
      CAPTURE(f.type);
      CAPTURE(code);
      if (!has_no_number)
        CHECK(found == (code >= 128 ? -size : size));
      else if (f.type == f8e5m2 && part == 0)
        CHECK(found == (code >= 128 ? -infinity : infinity));
      else
        CHECK(std::isnan(found));
    }
  }
}

TEST_CASE("onnx: a conversion to a small floating-point type gives the nearest number") {
  for (const Format& f : formats) {
    std::vector<double> all;
    for (const float number : all_numbers(f.type, 128))
      if (std::isfinite(number)) all.push_back(number);
    std::vector<float> x;
    std::vector<double> expected;
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      const auto middle = static_cast<float>((all[i] + all[i + 1]) / 2);
      for (const float near : {middle, std::nextafter(middle, infinity), std::nextafter(middle, 0.0F)})
        for (const float sign : {1.0F, -1.0F}) {
          x.push_back(sign * near);
          expected.push_back(sign * nearest(near, all));
        }
    }
    for (const bool saturates : {true, false}) {
      const Proto file = there_and_back(f.type, {attribute("saturate", std::int64_t{saturates})});
      CAPTURE(f.type);
      check_close(result(file, from_vector(x)), {static_cast<std::int64_t>(x.size())}, expected, {0});
      const std::vector<float> ends =
          result(file, from_vector(std::vector<float>{1e6, -infinity, no_number})).to_vector<float>();
      CHECK(std::isnan(ends[2]));
      if (saturates)
        CHECK((ends[0] == f.largest && ends[1] == -f.largest));
      else if (f.type == f8e5m2)
        CHECK((ends[0] == infinity && ends[1] == -infinity));
      else
        CHECK((std::isnan(ends[0]) && std::isnan(ends[1])));
    }
  }
}

TEST_CASE("onnx: f4e2m1 has no NaN, and f8e8m0 has powers of two and three ways to round") {
  const auto converted = [](const Proto& file, const std::vector<float>& x) {
    return result(file, from_vector(x)).to_vector<float>();
  };
  CHECK(converted(there_and_back(f4e2m1), {0.25F, 0.26F, 1.25F, 1.75F, 5, 1e6F, -infinity, no_number}) ==
        std::vector<float>{0, 0.5F, 1, 2, 4, 6, -6, 0});
  const std::vector<float> x{1, 1.25F, 1.75F, 0.124F};
  CHECK(converted(there_and_back(f8e8m0), x) == std::vector<float>{1, 2, 2, 0.125F});
  CHECK(converted(there_and_back(f8e8m0, {attribute("round_mode", "down")}), x) ==
        std::vector<float>{1, 1, 1, 0.0625F});
  CHECK(converted(there_and_back(f8e8m0, {attribute("round_mode", "nearest")}), x) ==
        std::vector<float>{1, 1, 2, 0.125F});
}

TEST_CASE("onnx: ops that compute refuse small types") {
  const Proto file = of::model(of::graph({.nodes = {node("Add", {"x", "x"}, {"y"})},
                                          .inputs = {value("x", i4, {"2"})},
                                          .outputs = {value("y", i4, {"2"})}}),
                               24);
  CHECK(refused(file) == doctest::Contains("i4"));
}
