// Pooling, compared with the reference: every variant, odd windows, refusals.
#include "crisol/ops/pool.h"

#include <cmath>
#include <limits>

#include "doctest/doctest.h"
#include "reference/images/pool.h"
#include "reference/images/pool_cases.h"
#include "support/compare.h"
#include "support/coverage.h"
#include "support/skip.h"

namespace crisol {

namespace {

using testing::check_close;
using testing::check_error;
using testing::for_each_variant;
using testing::Layout;
using testing::MustRun;
using testing::on_cpus;
using testing::random_values;
using testing::tensor_of;
using testing::values_of;
using testing::view_of;

std::vector<testing::Expected> row_variants() { return {on_cpus("rows"), "pixel"}; }

}  // namespace

TEST_CASE("max_pool2d: values, indices and gradient") {
  for (const reference::MaxPoolCase& c : reference::max_pool_cases) {
    CAPTURE(c.shape);
    CAPTURE(c.options.kernel);
    const MustRun forward("max_pool2d", row_variants()), backward("max_pool2d_backward", row_variants());
    const std::vector<double> x = random_values(1, c.shape.numel());
    const reference::MaxPool expected = reference::max_pool2d(x, c.shape, c.options);
    const std::vector<double> dy = random_values(2, expected.shape.numel());
    for (const DType type : {DType::i32, DType::u16}) {
      CAPTURE(name_of(type));
      Tensor indices;
      for_each_variant(forward, [&] {
        const ops::MaxPool2dResult got = ops::max_pool2d(tensor_of(x, c.shape), c.options, type);
        check_close(got.values, expected.shape, expected.values, {0});
        check_close(got.indices, expected.shape, expected.indices, {0});
        CHECK(got.indices.dtype() == type);
        indices = got.indices;
      });
      for_each_variant(backward, [&] {
        const Tensor dx = ops::max_pool2d_backward(tensor_of(dy, expected.shape), indices, c.shape, c.options);
        // At most kernel.h * kernel.w windows contain an element, and each adds at most 1.
        const double terms = c.options.kernel.h * c.options.kernel.w;
        check_close(dx, c.shape, reference::max_pool2d_backward(dy, expected, c.shape), {1, terms});
      });
    }
  }
}

TEST_CASE("max_pool2d: indices of u16 reach the last element of an image of 65536 elements") {
  std::vector<double> x(65536);
  x.back() = 1;
  const Tensor image = tensor_of(x, {1, 1, 256, 256});
  const ops::MaxPool2dResult got = ops::max_pool2d(image, {256}, DType::u16);
  CHECK(got.indices.item<std::uint16_t>() == 65535);
  CHECK(values_of(ops::max_pool2d_backward(got.values, got.indices, image.shape(), {256})) == x);
  check_error([&] { ops::max_pool2d(zeros({1, 1, 256, 257}), {2}, DType::u16); }, {"[max_pool2d]", "65536", "257"});
  check_error([&] { ops::max_pool2d(image, {2}, DType::i64); }, {"[max_pool2d]", "i32 or u16", "i64"});
}

TEST_CASE("pooling of many planes") {
  // Loops as long as in training: llvmpipe ends a work-item's loops after 65535 iterations.
  if (testing::slow_device()) CRISOL_SKIP("2 million elements");
  const Shape shape{64, 32, 28, 28};
  const std::vector<double> x = random_values(9, shape.numel());
  const Tensor input = tensor_of(x, shape);
  const reference::MaxPool expected = reference::max_pool2d(x, shape, {2});
  const ops::MaxPool2dResult got = ops::max_pool2d(input, {2});
  check_close(got.values, expected.shape, expected.values, {0});
  check_close(got.indices, expected.shape, expected.indices, {0});
  check_close(ops::max_pool2d_backward(got.values, got.indices, shape, {2}),
              reference::max_pool2d_backward(expected.values, expected, shape), {0});
  const reference::AvgPool mean = reference::avg_pool2d(x, shape, {2});
  check_close(ops::avg_pool2d(input, {2}), mean.shape, mean.values, {4, 1});
  check_close(ops::avg_pool2d_backward(got.values, shape, {2}),
              reference::avg_pool2d_backward(expected.values, shape, {2}), {4, 1});
}

TEST_CASE("max_pool2d: ties, NaN and infinities are taken as in PyTorch") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const Shape shape{1, 1, 4, 34};
  std::vector<double> x(static_cast<std::size_t>(shape.numel()), -inf);
  x[2] = x[3] = 5;       // Equal values in a row.
  x[6] = x[6 + 34] = 1;  // Equal values in a column.
  x[8] = nan;            // NaN before a larger value.
  x[9] = 7;
  x[10] = 7;  // NaN after a larger value.
  x[11] = nan;
  x[14] = x[15 + 34] = nan;  // The last of two NaNs counts.
  x[70] = inf;
  const reference::MaxPool expected = reference::max_pool2d(x, shape, {2});
  for_each_variant(MustRun("max_pool2d", row_variants()), [&] {
    const ops::MaxPool2dResult got = ops::max_pool2d(tensor_of(x, shape), {2});
    check_close(got.values, expected.shape, expected.values, {0});
    check_close(got.indices, expected.shape, expected.indices, {0});
    CHECK(got.indices.to_vector<std::int32_t>()[1] == 2);
    CHECK(got.indices.to_vector<std::int32_t>()[4] == 8);
    CHECK(got.indices.to_vector<std::int32_t>()[7] == 15 + 34);
    CHECK(got.indices.to_vector<std::int32_t>()[0] == 0);  // All values are -inf.
  });
}

TEST_CASE("avg_pool2d: values and gradient") {
  for (const Shape& shape : {Shape{2, 3, 8, 8}, Shape{1, 2, 7, 37}, Shape{2, 1, 3, 4}}) {
    for (const AvgPool2dOptions& options : reference::avg_pool_options) {
      CAPTURE(shape);
      CAPTURE(options.kernel);
      CAPTURE(options.ceil_mode);
      const std::vector<double> x = random_values(3, shape.numel());
      const reference::AvgPool expected = reference::avg_pool2d(x, shape, options);
      // A rounding for each of at most 9 terms below 1, and one for the division.
      for_each_variant(MustRun("avg_pool2d", row_variants()), [&] {
        check_close(ops::avg_pool2d(tensor_of(x, shape), options), expected.shape, expected.values, {10, 1});
      });
      const std::vector<double> dy = random_values(4, expected.shape.numel());
      for_each_variant(MustRun("avg_pool2d_backward", row_variants()), [&] {
        check_close(ops::avg_pool2d_backward(tensor_of(dy, expected.shape), shape, options), shape,
                    reference::avg_pool2d_backward(dy, shape, options), {10, 1});
      });
    }
  }
}

TEST_CASE("adaptive_avg_pool2d: values and gradient") {
  const struct {
    Shape shape;
    IntPair output;
  } cases[] = {{{2, 3, 7, 7}, {1, 2}}, {{1, 2, 10, 7}, {3, 5}},  {{1, 1, 4, 6}, {4, 6}}, {{2, 1, 2, 3}, {5, 7}},
               {{1, 2, 1, 1}, 3},      {{1, 2, 20, 70}, {3, 2}}, {{2, 1, 9, 20}, {3, 1}}};
  for (const auto& c : cases) {
    CAPTURE(c.shape);
    CAPTURE(c.output);
    const std::vector<double> x = random_values(5, c.shape.numel());
    const reference::AvgPool expected = reference::adaptive_avg_pool2d(x, c.shape, c.output);
    // A window has at most 60 terms below 1, and an element is in at most 35 windows. Each window has a division.
    for_each_variant(MustRun("adaptive_avg_pool2d", {on_cpus("planes"), "pixel"}), [&] {
      check_close(ops::adaptive_avg_pool2d(tensor_of(x, c.shape), c.output), expected.shape, expected.values, {8, 1});
    });
    const std::vector<double> dy = random_values(6, expected.shape.numel());
    for_each_variant(MustRun("adaptive_avg_pool2d_backward", {on_cpus("planes"), "pixel"}), [&] {
      check_close(ops::adaptive_avg_pool2d_backward(tensor_of(dy, expected.shape), c.shape), c.shape,
                  reference::adaptive_avg_pool2d_backward(dy, c.shape, c.output), {8, 35});
    });
  }
}

TEST_CASE("adaptive_avg_pool2d: the mean of a whole plane") {
  for (const Shape& shape : {Shape{2, 3, 7, 7}, {1, 1, 1, 1}, {1, 2, 61, 67}, {1, 1, 181, 191}}) {
    CAPTURE(shape);
    const std::vector<double> x = random_values(5, shape.numel());
    const reference::AvgPool expected = reference::adaptive_avg_pool2d(x, shape, 1);
    check_close(ops::adaptive_avg_pool2d(tensor_of(x, shape), 1), expected.shape, expected.values, {12, 1});
    const std::vector<double> dy = random_values(6, expected.shape.numel());
    check_close(ops::adaptive_avg_pool2d_backward(tensor_of(dy, expected.shape), shape), shape,
                reference::adaptive_avg_pool2d_backward(dy, shape, 1), {2, 1});
  }
}

TEST_CASE("pooling takes any strides") {
  const Shape shape{2, 2, 6, 7};
  const std::vector<double> x = random_values(7, shape.numel());
  const MaxPool2dOptions options{2, 2, 1};
  const reference::MaxPool expected = reference::max_pool2d(x, shape, options);
  const std::vector<double> dy = random_values(8, expected.shape.numel());
  for (const Layout layout : testing::all_layouts) {
    CAPTURE(testing::name_of(layout));
    const Tensor input = view_of(x, shape, layout);
    check_close(ops::max_pool2d(input, options).values, expected.values, {0});
    check_close(ops::avg_pool2d(input, {2}), reference::avg_pool2d(x, shape, {2}).values, {4, 1});
    check_close(ops::adaptive_avg_pool2d(input, 2), reference::adaptive_avg_pool2d(x, shape, 2).values, {12, 1});
    const Tensor indices = view_of(expected.indices, expected.shape, layout, DType::i32);
    check_close(ops::max_pool2d_backward(view_of(dy, expected.shape, layout), indices, shape, options),
                reference::max_pool2d_backward(dy, expected, shape), {0});
  }
}

TEST_CASE("pooling of nothing") {
  CHECK(ops::max_pool2d(zeros({0, 3, 4, 4}), {2}).indices.shape() == Shape{0, 3, 2, 2});
  CHECK(ops::avg_pool2d(zeros({2, 0, 4, 4}), {2}).shape() == Shape{2, 0, 2, 2});
  CHECK(ops::adaptive_avg_pool2d(zeros({0, 3, 4, 4}), 1).shape() == Shape{0, 3, 1, 1});
  CHECK(ops::avg_pool2d_backward(zeros({0, 3, 2, 2}), {0, 3, 4, 4}, {2}).shape() == Shape{0, 3, 4, 4});
}

TEST_CASE("max_pool2d_backward: indices outside the plane go nowhere") {
  const Tensor indices = tensor_of({-1, 16, -100, 1000}, {1, 1, 2, 2}, DType::i32);
  for_each_variant(MustRun("max_pool2d_backward", row_variants()), [&] {
    const Tensor dx = ops::max_pool2d_backward(ones({1, 1, 2, 2}), indices, {1, 1, 4, 4}, {2});
    check_close(dx, {1, 1, 4, 4}, std::vector<double>(16, 0.0), {0});
  });
}

TEST_CASE("pooling refuses bad arguments") {
  const Tensor x = ones({1, 2, 6, 6});
  check_error([&] { ops::max_pool2d(ones({2, 6, 6}), {2}); }, {"[max_pool2d]", "rank 4", "(2, 6, 6)"});
  check_error([&] { ops::max_pool2d(x, {0}); }, {"[max_pool2d]", "kernel", "0"});
  check_error([&] { ops::max_pool2d(x, {2, {1, -1}}); }, {"[max_pool2d]", "stride's width is -1"});
  check_error([&] { ops::max_pool2d(x, {2, 1, 0, 0}); }, {"[max_pool2d]", "dilation's height is 0"});
  check_error([&] { ops::max_pool2d(x, {3, 1, 2}); }, {"[max_pool2d]", "at most half", "3"});
  check_error([&] { ops::max_pool2d(x, {3, 1, 1 << 30}); }, {"[max_pool2d]", "at most half", "1073741824"});
  check_error([&] { ops::max_pool2d(x, {3, 1, -1}); }, {"[max_pool2d]", "padding's height is -1"});
  check_error([&] { ops::max_pool2d(x, {7}); }, {"[max_pool2d]", "does not fit", "7", "6"});
  check_error([&] { ops::max_pool2d(ones({1, 1, 1, 1}), {2, 1, 1, 2}); }, {"[max_pool2d]", "padding", "window 0"});
  check_error([&] { ops::adaptive_avg_pool2d(x.to(DType::i32), 1); }, {"[adaptive_avg_pool2d]", "i32"});
  check_error([&] { ops::adaptive_avg_pool2d(x, {0, 1}); }, {"[adaptive_avg_pool2d]", "(1, 2, 0, 1)"});
  check_error([&] { ops::adaptive_avg_pool2d(ones({1, 1, 0, 3}), 1); }, {"[adaptive_avg_pool2d]", "(1, 1, 0, 3)"});

  const Tensor dy = ones({1, 2, 3, 3});
  const Tensor indices = zeros({1, 2, 3, 3}, DType::i32);
  check_error(
      [&] {
        ops::max_pool2d_backward(ones({1, 2, 2, 3}), indices, {1, 2, 6, 6}, {2});
      },
      {"[max_pool2d_backward]", "(1, 2, 2, 3)", "(1, 2, 3, 3)"});
  check_error(
      [&] {
        ops::max_pool2d_backward(dy, zeros({1, 2, 3, 3}), {1, 2, 6, 6}, {2});
      },
      {"[max_pool2d_backward]", "f32", "i32"});
  check_error(
      [&] {
        ops::avg_pool2d_backward(dy, {1, 3, 6, 6}, {2});
      },
      {"[avg_pool2d_backward]", "(1, 2, 3, 3)", "(1, 3, 3, 3)"});
  check_error(
      [&] {
        ops::adaptive_avg_pool2d_backward(dy, {1, 3, 6, 6});
      },
      {"[adaptive_avg_pool2d_backward]", "(1, 2, 3, 3)", "(1, 3, 6, 6)"});
}

}  // namespace crisol
