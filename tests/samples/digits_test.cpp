#include "digits/digits.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "doctest/doctest.h"

using crisol::io::ImageSet;
using samples::render_digits;

namespace {

constexpr int side = 28;

struct Glyph {
  int left = side, right = -1, top = side, bottom = -1;
  int peak = 0;
  double mass = 0, x = 0, y = 0;
};

Glyph measure(const ImageSet& set, std::int64_t index) {
  Glyph g;
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      const int value = set.pixels[static_cast<std::size_t>((index * side + y) * side + x)];
      if (value == 0) continue;
      g.left = std::min(g.left, x);
      g.right = std::max(g.right, x);
      g.top = std::min(g.top, y);
      g.bottom = std::max(g.bottom, y);
      g.peak = std::max(g.peak, value);
      g.mass += value;
      g.x += value * x;
      g.y += value * y;
    }
  g.x /= g.mass;
  g.y /= g.mass;
  return g;
}

}  // namespace

TEST_CASE("rendered digits have MNIST's format") {
  const ImageSet set = render_digits(3000, 11);
  CHECK(set.rows == side);
  CHECK(set.columns == side);
  REQUIRE(set.size() == 3000);
  REQUIRE(set.pixels.size() == 3000u * side * side);
  for (std::int64_t i = 0; i < set.size(); ++i) {
    const Glyph g = measure(set, i);
    CAPTURE(i);
    REQUIRE(g.mass > 0);
    const int width = g.right - g.left + 1, height = g.bottom - g.top + 1;
    // The longer side fills the box. At a round end, the outermost pixel of the soft edge can round to 0.
    CHECK(std::max(width, height) <= 20);
    CHECK(std::max(width, height) >= 18);
    CHECK(g.peak > 150);
    // Half a pixel, plus the effect of rounding to bytes.
    CHECK(std::abs(g.x - 13.5) <= 0.51);
    CHECK(std::abs(g.y - 13.5) <= 0.51);
  }
}

TEST_CASE("every ten rendered digits hold each class once, in changing order") {
  const ImageSet set = render_digits(200, 3);
  int in_order = 0;
  for (std::size_t decade = 0; decade < 20; ++decade) {
    std::array<std::uint8_t, 10> labels;
    std::copy_n(set.labels.begin() + static_cast<std::ptrdiff_t>(decade * 10), 10, labels.begin());
    in_order += std::equal(labels.begin(), labels.end(), set.labels.begin());
    std::sort(labels.begin(), labels.end());
    for (std::uint8_t digit = 0; digit < 10; ++digit) CHECK(labels[digit] == digit);
  }
  CHECK(in_order == 1);
}

TEST_CASE("a rendered digit depends on seed and index only") {
  // Enough images for several threads.
  const ImageSet many = render_digits(2500, 5), few = render_digits(7, 5), other = render_digits(7, 6);
  CHECK(std::equal(few.pixels.begin(), few.pixels.end(), many.pixels.begin()));
  CHECK(std::equal(few.labels.begin(), few.labels.end(), many.labels.begin()));
  CHECK(render_digits(2500, 5).pixels == many.pixels);
  CHECK(other.pixels != few.pixels);
}

TEST_CASE("rendered digits are the same bytes on every machine") {
  const ImageSet set = render_digits(1000, 0);
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const auto* bytes : {&set.labels, &set.pixels})
    for (const std::uint8_t byte : *bytes) hash = (hash ^ byte) * 0x100000001b3u;
  // The hash may change only with an intended change of the renderer, because figures measured on rendered digits hold
  // for these bytes.
  CHECK(hash == 0x94fe951b9c7b7f33u);
}

TEST_CASE("no two rendered digits of a class are the same") {
  const ImageSet set = render_digits(500, 8);
  std::vector<std::vector<std::uint8_t>> images;
  for (std::ptrdiff_t i = 0; i < 500; ++i)
    images.emplace_back(set.pixels.begin() + i * side * side, set.pixels.begin() + (i + 1) * side * side);
  std::sort(images.begin(), images.end());
  CHECK(std::adjacent_find(images.begin(), images.end()) == images.end());
}

TEST_CASE("rendering no digits gives an empty set, fewer are refused") {
  CHECK(render_digits(0, 1).size() == 0);
  CHECK_THROWS_WITH(render_digits(-1, 1), doctest::Contains("count must be 0 or more"));
}
