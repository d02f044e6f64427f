// Gradients of fused functions: compared with finite differences and with eager ops, and the number of their kernels.

#include "crisol/functions/elementwise.h"
#include "crisol/functions/reduce.h"
#include "crisol/fuse.h"
#include "crisol/grad_mode.h"
#include "doctest/doctest.h"
#include "functions/fuse/gate.h"
#include "support/compare.h"
#include "support/gradcheck.h"
#include "support/launches.h"
#include "support/random_tensor.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

Tensor leaf(std::uint64_t seed, const Shape& shape, double low = -1, double high = 1) {
  return random_tensor(seed, shape, low, high).requires_grad_();
}

}  // namespace

TEST_CASE("fuse: gradients by finite differences, with broadcasting and numbers") {
  const Tensor a = random_tensor(1, {2, 3, 4}, 0.5, 1.5), b = random_tensor(2, {4});
  const Tensor c = random_tensor(3, {3, 1}, 0.5, 1.5), d = random_tensor(4, {2, 3, 4});
  const auto gate = fuse(Gate());
  check_gradients([&](const std::vector<Tensor>& v) { return gate(v[0], v[1]); }, {a, d});
  check_gradients([&](const std::vector<Tensor>& v) { return gate(v[0], v[1]); }, {a, b});
  const auto mixed = fuse([](const Expr& x, const Expr& y, const Expr& z, const Expr& s) {
    return (x * y + 2) / (z + 3) - s * log(x) + where(y > 0, x * y, square(z));
  });
  check_gradients([&](const std::vector<Tensor>& v) { return mixed(v[0], v[1], v[2], 0.5); }, {a, d, c});
  // All kinds of broadcasting: over all, leading, last and middle axes.
  for (const Shape& shape :
       {Shape{}, Shape{1}, Shape{4}, Shape{3, 1}, Shape{2, 1, 4}, Shape{2, 3, 1}, Shape{1, 3, 4}}) {
    CAPTURE(shape);
    const Tensor small = random_tensor(5, shape, 0.5, 1.5);
    check_gradients([&](const std::vector<Tensor>& v) { return gate(v[0], v[1]); }, {a, small});
  }
  // The same tensor as both inputs, and a result that is used twice.
  check_gradients([&](const std::vector<Tensor>& v) { return gate(v[0], v[0]); }, {a});
  check_gradients([&](const std::vector<Tensor>& v) { return gate(gate(v[0], v[1]), v[1]); }, {a, d});
}

TEST_CASE("fuse: the gradient of several results is the sum of theirs") {
  const auto both = fuse([](const Expr& x, const Expr& y) { return std::array<Expr, 2>{x * y, exp(x) - y}; });
  const Tensor a = random_tensor(6, {3, 4}), b = random_tensor(7, {4});
  check_gradients(
      [&](const std::vector<Tensor>& v) {
        const auto [product, difference] = both(v[0], v[1]);
        return product * difference;
      },
      {a, b});
  // A result that is not used adds nothing to the gradients.
  check_gradients([&](const std::vector<Tensor>& v) { return both(v[0], v[1])[1]; }, {a, b});
  // Results whose shapes differ from the joint shape, and a result without a gradient.
  const auto shapes = fuse([](const Expr& x, const Expr& y) { return std::make_tuple(x * y, square(y), x > y); });
  check_gradients(
      [&](const std::vector<Tensor>& v) {
        const auto [product, own, greater] = shapes(v[0], v[1]);
        CHECK_FALSE(greater.requires_grad());
        return product + own;
      },
      {a, b});
}

TEST_CASE("fuse: backward is one kernel, which stores the gradients alone") {
  const auto gate = fuse(Gate());
  Tensor a = leaf(8, {5, 33}), b = leaf(9, {5, 33});
  const Tensor y = gate(a, b);
  const Tensor dy = random_tensor(10, {5, 33});
  CHECK(launches_of([&] { y.backward(dy); }) == 1);
  Tensor a2 = leaf(8, {5, 33}), b2 = leaf(9, {5, 33});
  Gate()(a2, b2).backward(dy);
  check_close(a.grad(), values_of(a2.grad()), {8});
  check_close(b.grad(), values_of(b2.grad()), {8});
  // A sum only passes the gradient on. It runs no kernel except the copies that the leaves own.
  const auto sum_of = fuse([](const Expr& u, const Expr& v) { return u + v; });
  Tensor c = leaf(11, {7}), d = leaf(12, {7});
  const Tensor z = sum_of(c, d);
  const Tensor dz = random_tensor(13, {7});
  z.backward(dz);
  check_close(c.grad(), values_of(dz), {0});
  check_close(d.grad(), values_of(dz), {0});
}

TEST_CASE("fuse: backward reads a result where that takes fewer tensors than computing it again") {
  // For relu(a + b + c), the result shows where it was positive.
  const auto f = fuse([](const Expr& a, const Expr& b, const Expr& c) { return relu(a + b + c); });
  Tensor a = leaf(14, {40}), b = leaf(15, {40}), c = leaf(16, {40});
  Tensor y = f(a, b, c);
  {
    const NoGrad no_grad;
    a.zero_();  // `a` is not needed any more.
  }
  const Tensor dy = random_tensor(17, {40});
  y.backward(dy);
  std::vector<double> expected = values_of(dy), values = values_of(y);
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (values[i] <= 0) expected[i] = 0;
  for (const Tensor& x : {a, b, c}) check_close(x.grad(), expected, {0});

  y = f(a, b, c);
  {
    const NoGrad no_grad;
    y.zero_();
  }
  check_error([&] { y.backward(dy); }, {"changed in place"});
}

TEST_CASE("fuse: half precision and converted inputs get gradients of their own dtype") {
  Tensor half = tensor_of(random_values(18, 20), {20}, DType::f16).requires_grad_();
  Tensor full = leaf(19, {20});
  const auto f = fuse([](const Expr& a, const Expr& b) { return a.to(DType::f32) * b + a; });
  const Tensor y = f(half, full);
  CHECK(y.dtype() == DType::f32);
  y.backward(ones({20}));
  CHECK(half.grad().dtype() == DType::f16);
  CHECK(full.grad().dtype() == DType::f32);
  check_close(full.grad(), values_of(half), {0});
  std::vector<double> expected = values_of(full);
  for (double& v : expected) v += 1;
  check_close(half.grad(), expected, {1});
  // Integers have no gradients, and no_grad records nothing.
  const auto g = fuse([](const Expr& a, const Expr& b) { return a * b; });
  const Tensor whole = tensor_of({1, 2}, {2}, DType::i32);
  Tensor x = leaf(20, {2});
  g(x, whole).backward(ones({2}));
  check_close(x.grad(), {1, 2}, {0});
  const NoGrad no_grad;
  CHECK_FALSE(g(x, whole).requires_grad());
}

TEST_CASE("fuse: more results than one kernel stores have their gradients in as many as needed") {
  const auto f = fuse([](const Expr& a, const Expr& b, const Expr& c, const Expr& d, const Expr& e, const Expr& g) {
    return (a * b + c * d) * (e - g) + a * g;
  });
  std::vector<Tensor> inputs;
  for (std::uint64_t i = 0; i < 6; ++i) inputs.push_back(random_tensor(21 + i, {9}));
  check_gradients([&](const std::vector<Tensor>& v) { return f(v[0], v[1], v[2], v[3], v[4], v[5]); }, inputs);
}
