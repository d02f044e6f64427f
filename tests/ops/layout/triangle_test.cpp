// tril and triu, compared with the reference.
#include "crisol/ops/triangle.h"

#include <algorithm>
#include <limits>

#include "doctest/doctest.h"
#include "reference/indexing.h"
#include "support/compare.h"
#include "support/skip.h"

namespace crisol {

using reference::Values;
using testing::all_layouts;
using testing::check_close;
using testing::check_error;
using testing::random_integers;
using testing::view_of;

TEST_CASE("tril and triu: batches, odd and empty sizes, every diagonal, dtype and layout") {
  using Limits = std::numeric_limits<std::int64_t>;
  for (const Shape& shape : {Shape{1, 1}, Shape{4, 4}, Shape{3, 7}, Shape{7, 3}, Shape{2, 3, 5, 4}, Shape{2, 0, 3},
                             Shape{2, 3, 0}, Shape{0, 3, 3}}) {
    const Values x{shape, random_integers(1, shape.numel(), 1, 9)};
    for (const std::int64_t diagonal :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, std::int64_t{2}, std::int64_t{-3}, std::int64_t{100},
          std::int64_t{-100}, Limits::max(), Limits::min()}) {
      CAPTURE(shape);
      CAPTURE(diagonal);
      // Limited, because the reference subtracts the diagonal.
      const std::int64_t near = std::clamp<std::int64_t>(diagonal, -1000, 1000);
      check_close(ops::tril(view_of(x.values, shape, testing::Layout::contiguous), diagonal), shape,
                  reference::triangle(x, near, false).values, {0});
      check_close(ops::triu(view_of(x.values, shape, testing::Layout::contiguous), diagonal), shape,
                  reference::triangle(x, near, true).values, {0});
    }
  }
  const Values x{{2, 5, 3}, random_integers(2, 30, 0, 1)};
  for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::i64, DType::u8, DType::boolean})
    for (const testing::Layout layout : all_layouts) {
      const Tensor y = ops::triu(view_of(x.values, x.shape, layout, dtype), 1);
      CHECK(y.dtype() == dtype);
      check_close(y, x.shape, reference::triangle(x, 1, true).values, {0});
    }
}

TEST_CASE("tril: larger matrices than one work-item's share") {
  if (testing::slow_device()) CRISOL_SKIP("a million elements");
  const Values x{{1000, 1003}, random_integers(3, 1003000, 1, 9)};
  check_close(ops::tril(testing::tensor_of(x.values, x.shape), -2), reference::triangle(x, -2, false).values, {0});
}

TEST_CASE("tril and triu refuse what is no matrix") {
  check_error([] { ops::tril(ones({3})); }, {"[tril]", "(3)"});
  check_error([] { ops::triu(Tensor()); }, {"[triu]", "undefined"});
}

}  // namespace crisol
