// Running sums of exponentials in C++ and C, and their gradients.
#include <algorithm>
#include <cmath>
#include <limits>

#include "c_api/handle.h"
#include "crisol/crisol.h"
#include "crisol/ops/reduce.h"
#include "ops/into.h"
#include "reference/reduce.h"
#include "support/compare.h"
#include "support/gradcheck.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

double log_add_exp(double a, double b) {
  const double m = std::max(a, b);
  return std::isinf(m) || a != a ? m : m + std::log(std::exp(a - m) + std::exp(b - m));
}

std::vector<double> expect(const std::vector<double>& x, const Shape& shape, int axis) {
  return reference::running(x, shape, axis, log_add_exp);
}

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("logcumsumexp: every axis, dtype and layout") {
  for (const Shape& shape : {Shape{3, 12, 7}, Shape{1}, Shape{37}, Shape{2, 0, 3}, Shape{0}}) {
    CAPTURE(shape);
    // Halves represent these values.
    std::vector<double> x = random_integers(1, shape.numel(), -80, 80);
    for (double& value : x) value /= 8;
    for (const DType dtype : {DType::f32, DType::f16})
      for (const Layout layout : all_layouts)
        for (int axis = 0; axis < shape.rank(); ++axis) {
          const Tensor y = ops::logcumsumexp(view_of(x, shape, layout, dtype), axis - shape.rank());
          CHECK(y.dtype() == dtype);
          check_close(y, shape, expect(x, shape, axis), {dtype == DType::f32 ? 8.0 : 1.0, 8});
        }
  }
  check_close(ops::logcumsumexp(tensor_of({3}, {}), 0), {}, {3}, {0});
}

TEST_CASE("logcumsumexp: infinities, NaN, and sums that exponentials cannot hold") {
  const auto gives = [](const std::vector<double>& x, const std::vector<double>& y) {
    check_close(ops::logcumsumexp(tensor_of(x, {static_cast<std::int64_t>(x.size())}), 0), y, {4});
  };
  gives({-infinity, -infinity, 0, -infinity, 0}, {-infinity, -infinity, 0, 0, std::log(2)});
  gives({1, infinity, infinity, 2, -infinity}, {1, infinity, infinity, infinity, infinity});
  gives({1, not_a_number, 2, infinity}, {1, not_a_number, not_a_number, not_a_number});
  gives({1000, 1000, -1000, 2000}, {1000, 1000 + std::log(2), 1000 + std::log(2), 2000});
  gives({-1000, -1000}, {-1000, -1000 + std::log(2)});
}

TEST_CASE("logcumsumexp: axes that take several launches on some devices") {
  if (slow_device()) CRISOL_SKIP("too large for this device");
  for (const Shape& shape : {Shape{150001}, Shape{70001, 3}}) {
    const std::vector<double> x = random_values(2, shape.numel());
    check_close(ops::logcumsumexp(tensor_of(x, shape), 0), expect(x, shape, 0), {16});
  }
  // Equal elements: y[j] = log(j + 1), and dx[i] is the sum of 1 / (j + 1) over j >= i.
  const std::int64_t n = 150001;
  const Tensor x = zeros({n});
  const Tensor dx = ops::logcumsumexp_backward(ones({n}), x, ops::logcumsumexp(x, 0), 0);
  std::vector<double> expected(static_cast<std::size_t>(n));
  double sum = 0;
  for (std::size_t i = expected.size(); i-- > 0;) expected[i] = sum += 1 / static_cast<double>(i + 1);
  check_close(dx, expected, {512});
}

TEST_CASE("logcumsumexp: gradients of any order") {
  const std::vector<double> x = random_values(3, 60);
  for (int axis = 0; axis < 3; ++axis)
    check_gradients([&](const std::vector<Tensor>& in) { return logcumsumexp(in[0], axis); },
                    {tensor_of(x, {3, 5, 4})});
  check_gradients_of_gradients([](const std::vector<Tensor>& in) { return logcumsumexp(in[0], 0); },
                               {tensor_of({1, -2, 0.5, 3}, {4})});
  Tensor half = tensor_of({0, 0, 0}, {3}, DType::f16).requires_grad_();
  logcumsumexp(half, 0).backward(tensor_of({0, 0, 3}, {3}, DType::f16));
  check_close(half.grad(), {1, 1, 1}, {2});
  // A large element takes the whole gradient.
  Tensor large = tensor_of({0, 1000, 0}, {3}).requires_grad_();
  logcumsumexp(large, 0).sum().backward();
  check_close(large.grad(), {1, 2, 0}, {0});
}

TEST_CASE("logcumsumexp: into given tensors, and in C") {
  check_into({ONE(Tensors{tensor_of(random_values(4, 60), {3, 4, 5})}, logcumsumexp, in[0], 1)});
  const c_api::Handle x({0, 0, 1, 1}, {2, 2});
  c_api::Handle y;
  OK(crisol_logcumsumexp(x.get(), 1, y.place()));
  const float two = std::log(2.0f);
  CHECK(std::abs(c_api::values_of(y.get())[1] - two) < 1e-6f);
  CHECK(std::abs(c_api::values_of(y.get())[3] - 1 - two) < 1e-6f);
}

TEST_CASE("logcumsumexp refuses what it cannot compute") {
  check_error([] { ops::logcumsumexp(zeros({2}), 1); }, {"[logcumsumexp]", "1"});
  check_error([] { ops::logcumsumexp(Tensor(), 0); }, {"[logcumsumexp]", "undefined"});
  check_error([] { ops::logcumsumexp(zeros({2}, DType::i32), 0); }, {"[logcumsumexp]", "f32, f16", "i32"});
  const Tensor x = zeros({2});
  check_error([&] { ops::logcumsumexp_backward(zeros({3}), x, x, 0); }, {"[logcumsumexp_backward]", "(2)", "(3)"});
  check_error([&] { ops::logcumsumexp_backward(x, x, x.to(DType::f16), 0); }, {"[logcumsumexp_backward]", "f16"});
}
