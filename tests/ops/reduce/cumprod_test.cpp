// Running products and their gradient.
#include <functional>

#include "crisol/functions/reduce.h"
#include "crisol/ops/reduce.h"
#include "doctest/doctest.h"
#include "reference/reduce.h"
#include "support/compare.h"
#include "support/gradcheck.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

std::vector<double> expect(const std::vector<double>& x, const Shape& shape, int axis) {
  return reference::running(x, shape, axis, std::multiplies<>());
}

}  // namespace

TEST_CASE("cumprod: every axis, dtype and layout") {
  for (const Shape& shape : {Shape{3, 12, 7}, Shape{1}, Shape{37}, Shape{2, 0, 3}, Shape{0}}) {
    CAPTURE(shape);
    std::vector<double> x = random_integers(1, shape.numel(), 0, 1);
    for (double& value : x) value = value == 0 ? -1 : 1;
    if (x.size() > 3) x[2] = 2, x[3] = -3;
    for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::i64})
      for (const Layout layout : all_layouts)
        for (int axis = 0; axis < shape.rank(); ++axis) {
          const Tensor y = ops::cumprod(view_of(x, shape, layout, dtype), axis - shape.rank());
          CHECK(y.dtype() == (is_floating(dtype) ? dtype : DType::i64));
          check_close(y, shape, expect(x, shape, axis), {0});
        }
  }
  check_close(ops::cumprod(tensor_of({3}, {}), 0), {}, {3}, {0});
  check_close(ops::cumprod(tensor_of({1, 1, 0, 1}, {4}, DType::boolean), 0), {1, 1, 0, 0}, {0});
  check_error([] { ops::cumprod(zeros({2}), 1); }, {"[cumprod]", "1"});
  check_error([] { ops::cumprod(Tensor(), 0); }, {"[cumprod]", "undefined"});
}

TEST_CASE("cumprod: axes that take several launches on some devices") {
  if (slow_device()) CRISOL_SKIP("too large for this device");
  for (const Shape& shape : {Shape{150001}, Shape{70001, 3}}) {
    std::vector<double> x = random_integers(2, shape.numel(), 0, 1);
    for (double& value : x) value = value == 0 ? -1 : 1;
    check_close(ops::cumprod(tensor_of(x, shape), 0), expect(x, shape, 0), {0});
  }
  // 1 - 2 + 3 - … in steps: each suffix is dy + x s.
  const std::int64_t n = 150001;
  const Tensor x = full({n}, -1), dy = ones({n});
  const Tensor dx = ops::cumprod_backward(dy, x, ops::cumprod(x, 0), 0);
  std::vector<double> expected;
  for (std::int64_t i = 0; i < n; ++i) expected.push_back((n - i) % 2 == 0 ? 0 : (i % 2 == 0 ? 1 : -1));
  check_close(dx, expected, {0});
}

TEST_CASE("cumprod: gradients, also where elements are 0") {
  std::vector<double> x = random_values(3, 60);
  x[4] = x[17] = x[25] = x[27] = 0;
  for (int axis = 0; axis < 3; ++axis)
    check_gradients([&](const std::vector<Tensor>& in) { return cumprod(in[0], axis); }, {tensor_of(x, {3, 5, 4})});
  CHECK(!cumprod(zeros({2}, DType::i32), 0).requires_grad());
  Tensor half = tensor_of({2, 3, 4}, {3}, DType::f16).requires_grad_();
  cumprod(half, 0).backward(ones({3}, DType::f16));
  check_close(half.grad(), {16, 10, 6}, {0});
}
