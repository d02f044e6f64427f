// In-place elementwise ops: values, dtypes, aliasing, gradients.
#include <cmath>

#include "crisol/functions/elementwise.h"
#include "crisol/grad_mode.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/view.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/coverage.h"
#include "tensor/impl.h"

using namespace crisol;
using namespace crisol::testing;

TEST_CASE("elementwise in place: every layout, both kinds of kernel") {
  const MustRun variants("pointwise", {on_cpus("chunks"), "items"});
  for_each_variant(variants, [&] {
    for (const Layout layout : all_layouts) {
      CAPTURE(name_of(layout));
      const std::vector<double> a = random_values(1, 210), b = random_values(2, 210);
      Tensor dst = view_of(a, {3, 2, 35}, layout);
      const Tensor src = view_of(b, {3, 2, 35}, Layout::contiguous);
      const auto before = dst.impl()->storage->version.load();
      ops::accumulate_into(dst, src, 0.5);
      std::vector<double> expected;
      for (std::size_t i = 0; i < a.size(); ++i) expected.push_back(a[i] + 0.5 * b[i]);
      check_close(dst, {3, 2, 35}, expected, {2});
      CHECK(dst.impl()->storage->version.load() > before);
      dst.mul_(-2);
      for (double& value : expected) value *= -2;
      check_close(dst, {3, 2, 35}, expected, {2});
      // One more operand, with another layout, that broadcasts.
      dst.add_(view_of({1, 2, 3}, {3, 1, 1}, Layout::strided)).relu_();
      for (std::size_t i = 0; i < expected.size(); ++i)
        expected[i] = std::fmax(0, expected[i] + 1 + static_cast<double>(i / 70));
      check_close(dst, {3, 2, 35}, expected, {2});
      // The storage between the elements does not change.
      if (layout == Layout::strided) {
        for (const float value : make_view(dst, {3}, {1}, 0).to_vector<float>()) CHECK(std::isnan(value));
      }
    }
  });
}

TEST_CASE("elementwise in place: an operand may be the tensor itself, or lie beside it") {
  const MustRun variants("pointwise", {on_cpus("chunks"), "items"});
  for_each_variant(variants, [&] {
    Tensor x = tensor_of({1, 2, 3, 4, 5, 6}, {2, 3});
    x.mul_(x);
    check_close(x, {1, 4, 9, 16, 25, 36}, {0});
    Tensor left = x.narrow(1, 0, 1);
    left.add_(x.narrow(1, 2, 1));  // Columns of one matrix.
    check_close(x, {10, 4, 9, 52, 25, 36}, {0});
    Tensor top = x.narrow(0, 0, 1);
    top.add_(x.narrow(0, 1, 1));
    check_close(x, {62, 29, 45, 52, 25, 36}, {0});
  });
}

TEST_CASE("elementwise in place: aliasing that would change results is refused, and nothing is written") {
  Tensor x = tensor_of({1, 2, 3, 4, 5, 6, 7, 8, 9}, {9});
  Tensor first = x.narrow(0, 0, 8), square = x.reshape({3, 3});
  check_error([&] { first.add_(x.narrow(0, 1, 8)); }, {"[add_]", "share", "(8)", "clone()"});
  check_error([&] { square.add_(square.transpose(0, 1)); }, {"[add_]", "share", "(3, 3)"});
  check_error([&] { square.add_(x.narrow(0, 3, 3)); }, {"[add_]", "share", "(3)"});
  check_error([&] { make_view(x, {2, 9}, {0, 1}, 0).add_(1); }, {"[add_]", "expanded", "axis 0"});
  check_error([&] { square.copy_from(square.transpose(0, 1)); }, {"[copy_into]", "share"});
  check_close(x, {1, 2, 3, 4, 5, 6, 7, 8, 9}, {0});
  // Every second element; the elements between them are the other operand.
  Tensor even = make_view(x, {4}, {2}, 0);
  even.add_(make_view(x, {4}, {2}, 1));
  check_close(x, {3, 2, 7, 4, 11, 6, 15, 8, 9}, {0});
}

TEST_CASE("elementwise in place: shapes and dtypes") {
  Tensor whole = tensor_of({1, 2}, {2}, DType::i32), real = tensor_of({1, 2}, {2}), half = real.to(DType::f16);
  check_error([&] { real.add_(zeros({3, 2})); }, {"[add_]", "(3, 2)", "(2)"});
  check_error([&] { real.add_(zeros({3})); }, {"[add_]", "(3)", "(2)", "axis -1"});
  check_error([&] { whole.add_(real); }, {"[add_]", "f32", "i32"});
  check_error([&] { whole.mul_(0.5); }, {"[mul_]", "f32", "i32"});
  check_error([&] { whole.exp_(); }, {"[exp_]", "f32", "i32"});
  check_error([&] { ops::eq(whole, 1).add_(1); }, {"[add_]", "i64", "bool"});
  check_close(whole, {1, 2}, {0});
  check_close(real, {1, 2}, {0});
  check_close(whole.add_(from_vector<std::int64_t>({5, 6})), {6, 8}, {0});
  CHECK(whole.dtype() == DType::i32);
  check_close(half.mul_(real), {1, 4}, {0});
  CHECK(half.dtype() == DType::f16);
  check_close(real.clamp_(1.5, 3), {1.5, 2}, {0});
  check_close(real.masked_fill_(ops::gt(real, 1.75), -1), {1.5, -1}, {0});
  check_close(real.lerp_(1, tensor_of({0, 1}, {2})), {1.5, 1}, {0});
  real += 1;
  real *= real;
  check_close(real, {6.25, 4}, {0});
}

TEST_CASE("elementwise in place: recorded, but a leaf that wants a gradient is not changed") {
  Tensor leaf = tensor_of({1, 2}, {2}), plain = tensor_of({3, 4}, {2});
  leaf.requires_grad_();
  check_error([&] { leaf.add_(1); }, {"[add_]", "wants a gradient", "NoGrad"});
  check_close(leaf, {1, 2}, {0});
  Tensor y = leaf * 2;
  y.add_(1);
  Tensor sum = plain.clone();
  sum.add_(leaf);
  CHECK(sum.requires_grad());
  check_close(y, {3, 5}, {0});
  check_close(sum, {4, 6}, {0});
  {
    const NoGrad no_grad;
    leaf.add_(1);
    plain.add_(leaf);
  }
  check_close(leaf, {2, 3}, {0});
  check_close(plain, {5, 7}, {0});
  // A change of a saved tensor is detected.
  const Tensor product = leaf * plain;
  plain.add_(1);
  check_error([&] { product.backward(ones({2})); }, {"[backward]", "changed in place"});
}
