// Repeated elements of images, compared with plain loops.
#include "crisol/ops/vision.h"
#include "doctest/doctest.h"
#include "reference/cat.h"
#include "reference/index_loop.h"
#include "support/compare.h"
#include "support/coverage.h"

namespace crisol {

using namespace testing;
using reference::Values;

TEST_CASE("enlarge: odd sizes, every dtype and layout, refusals") {
  const MustRun variants("enlarge", {on_cpus("rows"), "elements"});
  for (const Shape& shape : {Shape{1, 1}, Shape{3, 5, 7}, Shape{2, 2, 3, 33}, Shape{4, 16}, Shape{2, 0, 3}})
    for (const auto& [down, across] : {std::pair{1, 2}, {2, 2}, {3, 1}, {2, 5}}) {
      CAPTURE(shape);
      const Values x{shape, random_integers(13, shape.numel(), 0, 1)};
      Shape larger = shape;
      larger[shape.rank() - 2] *= down;
      larger[shape.rank() - 1] *= across;
      Values expected{larger, {}};
      reference::for_each_index(larger, [&](Shape at) {
        at[shape.rank() - 2] /= down;
        at[shape.rank() - 1] /= across;
        expected.values.push_back(x.values[reference::position(at, shape)]);
      });
      const auto check = [&] {
        for (const Layout layout : all_layouts)
          check_close(ops::enlarge(view_of(x.values, shape, layout), down, across), larger, expected.values, {0});
        for (const DType dtype : {DType::f16, DType::i32, DType::i64, DType::u8, DType::boolean})
          check_close(ops::enlarge(tensor_of(x.values, shape, dtype), down, across), larger, expected.values, {0});
      };
      if (larger.numel() == 0)
        check();
      else
        for_each_variant(variants, check);
    }
  check_error([] { ops::enlarge(Tensor(), 2, 2); }, {"[enlarge]", "undefined"});
  check_error([] { ops::enlarge(zeros({3}), 2, 2); }, {"[enlarge]", "(3)", "(…, H, W)"});
  check_error([] { ops::enlarge(zeros({3, 3}), 0, 2); }, {"[enlarge]", "0 x 2"});
}

}  // namespace crisol
