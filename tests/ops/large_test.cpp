// Sizes beyond the limits of counters and loops: llvmpipe ends a work-item's loops after 65535 rounds, without an
// error.
#include <cmath>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/skip.h"

using namespace crisol;

namespace {

constexpr std::int64_t many = (1 << 23) + 17;

// Sums of equal values. They are so large that rounding cannot hide a missing part.
void check_sum(const Tensor& x, double expected) {
  CHECK(sum(x).item<double>() == doctest::Approx(expected).epsilon(1e-4));
}

}  // namespace

TEST_CASE("elementwise ops, copies and reductions reach the end of eight million elements") {
  if (testing::slow_device()) CRISOL_SKIP("millions of elements");
  const Tensor x = relu(full({many}, 0.5));
  CHECK(x.narrow(0, many - 1, 1).item() == 0.5f);
  check_sum(x, 0.5 * many);
  const Tensor m = x.narrow(0, 0, 1 << 23).reshape({2048, 4096});
  check_sum(m + ones({2048, 1}), 1.5 * (1 << 23));
  check_sum(m.transpose(0, 1).clone(), 0.5 * (1 << 23));
  check_sum(sum(m, {0}), 0.5 * (1 << 23));
  check_sum(sum(m, {1}), 0.5 * (1 << 23));
  check_sum(m.to(DType::i32).to(DType::f32) + 1.0, 1 << 23);
  CHECK(mean(rand({many})).item() == doctest::Approx(0.5).epsilon(1e-3));
}

TEST_CASE("long rows of softmax, cross entropy and layer norm") {
  if (testing::slow_device()) CRISOL_SKIP("millions of elements");
  const Tensor rows = full({4, 300000}, 0.25);
  check_sum(softmax(rows, 1), 4);
  CHECK(cross_entropy(rows, zeros({4}, DType::i64)).item() == doctest::Approx(std::log(300000.0)).epsilon(1e-4));
  const Tensor normal = layer_norm(randn({4, 300000}), {300000});
  check_sum(normal * normal, 4 * 300000.0);
}

TEST_CASE("deep and tall products, and a convolution of many images") {
  if (testing::slow_device()) CRISOL_SKIP("millions of elements");
  check_sum(matmul(full({8, 200000}, 0.5), full({200000, 8}, 0.25)), 64 * 200000 * 0.125);
  check_sum(matmul(full({200000, 8}, 0.5), full({8, 8}, 0.25)), 200000.0 * 64 * 0.125);
  const Tensor images = full({64, 8, 56, 56}, 0.5).requires_grad_(), weight = full({8, 8, 3, 3}, 0.1).requires_grad_();
  const Tensor y = conv2d(images, weight);
  const double outputs = 64.0 * 8 * 54 * 54;
  check_sum(y.detach(), outputs * 72 * 0.05);
  y.backward(ones(y.shape()));
  check_sum(weight.grad(), outputs * 72 * 0.5);
  check_sum(images.grad(), outputs * 72 * 0.1);
}
