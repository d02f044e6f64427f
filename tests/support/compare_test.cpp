#include "support/compare.h"

#include <cmath>
#include <limits>

#include "crisol/dtype_table.h"
#include "doctest/doctest.h"

using namespace crisol;
using namespace crisol::testing;

TEST_CASE("compare: views of every layout hold the given values") {
  const std::vector<double> values = random_integers(1, 24, -9, 9);
  for (const Layout layout : all_layouts) {
    for (const DType dtype : all_dtypes) {
      if (kind_of(dtype) != DTypeKind::floating && kind_of(dtype) != DTypeKind::integer) continue;
      const Tensor view = view_of(values, {2, 3, 4}, layout, dtype);
      CAPTURE(name_of(layout));
      CHECK(view.shape() == Shape{2, 3, 4});
      CHECK(values_of(view) == values);
      CHECK(view.is_contiguous() == (layout == Layout::contiguous || layout == Layout::offset));
    }
    CHECK(values_of(view_of({}, {3, 0, 2}, layout)).empty());
    CHECK(values_of(view_of({5}, {}, layout)) == std::vector<double>{5});
  }
}

TEST_CASE("compare: what passes and what does not") {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  const auto wrong = [](std::vector<double> actual, std::vector<double> expected, Tolerance tolerance,
                        DType dtype = DType::f32) {
    const auto count = static_cast<std::int64_t>(actual.size());
    return difference(tensor_of(actual, {count}, dtype), expected, tolerance);
  };
  CHECK(wrong({1, 2}, {1, 2}, {0}).empty());
  CHECK(wrong({1 + 0x1p-22, 4}, {1, 4}, {1}).empty());  // Within epsilon times the largest value, 4.
  CHECK_FALSE(wrong({1 + 0x1p-20, 4}, {1, 4}, {1}).empty());
  CHECK_FALSE(wrong({1 + 0x1p-20, 4}, {1, 4}, {1, 2}).empty());
  CHECK(wrong({1 + 0x1p-20, 4}, {1, 4}, {1, 8}).empty());
  CHECK_FALSE(wrong({nan, 1}, {1, 1}, {1e9}).empty());
  CHECK_FALSE(wrong({1, 1}, {nan, 1}, {1e9}).empty());
  CHECK(wrong({nan, infinity}, {nan, infinity}, {1}).empty());
  CHECK_FALSE(wrong({infinity, 1}, {-infinity, 1}, {1e9}).empty());
  CHECK_FALSE(wrong({infinity, 1}, {2, 1}, {1e9}).empty());
  CHECK_FALSE(wrong({1, 2}, {1}, {1e9}).empty());
  CHECK_FALSE(wrong({7, 2}, {7, 3}, {1e9}, DType::i32).empty());
  CHECK(wrong({1, 5, 2}, {1, 2, 2}, {1}).find("worst at (1): 5, expected 2") != std::string::npos);
}
