#include "crisol/functions/loss.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "crisol/ops/loss.h"
#include "doctest/doctest.h"
#include "ops/rowwise/row_variants.h"
#include "reference/loss.h"
#include "support/compare.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

constexpr Reduction reductions[] = {Reduction::mean, Reduction::sum, Reduction::none};

struct Labels {
  std::vector<std::int64_t> list;

  Tensor tensor(DType dtype = DType::i64) const {
    return tensor_of(std::vector<double>(list.begin(), list.end()), {static_cast<std::int64_t>(list.size())}, dtype);
  }
};

Labels random_labels(std::uint64_t seed, std::int64_t n, std::int64_t classes) {
  Labels labels;
  for (const double label : random_integers(seed, n, 0, classes - 1))
    labels.list.push_back(static_cast<std::int64_t>(label));
  return labels;
}

// A wrong label is the error of the next read, and of no other.
void expect_labels(const Tensor& read, const Labels& labels, std::int64_t classes, std::int64_t ignored) {
  const bool right = std::all_of(labels.list.begin(), labels.list.end(), [&](std::int64_t label) {
    return label == ignored || (label >= 0 && label < classes);
  });
  if (!right) check_error([&] { testing::values_of(read); }, {"label", "is not in [0, "});
}

// dy and the loss have axes only without reduction.
Shape loss_shape(Reduction reduction, const Shape& each) { return reduction == Reduction::none ? each : Shape{}; }

std::vector<double> loss_gradient(Reduction reduction, const Shape& each) {
  return random_values(9, loss_shape(reduction, each).numel(), 0.5, 2);
}

struct CrossEntropyVariants {
  explicit CrossEntropyVariants(const std::vector<Expected>& of_forward = with_lanes(row_variants()))
      : CrossEntropyVariants(of_forward, of_forward) {}
  CrossEntropyVariants(const std::vector<Expected>& of_forward, const std::vector<Expected>& of_backward)
      : forward("cross_entropy", of_forward), backward("cross_entropy_backward", of_backward) {}

  MustRun forward, backward;
};

void check_cross_entropy(const CrossEntropyVariants& variants, const Tensor& logits, const std::vector<double>& x,
                         const Labels& labels, DType label_dtype, const CrossEntropyOptions& options) {
  const Shape each = labels.tensor().shape();
  const std::vector<double> dy = loss_gradient(options.reduction, each);
  const auto expected = reference::cross_entropy(x, labels.list, logits.size(1), options, dy);
  const Shape shape = loss_shape(options.reduction, each);
  const Tensor label_tensor = labels.tensor(label_dtype);
  for_each_variant(variants.forward, [&] {
    const auto result = ops::cross_entropy(logits, label_tensor, options);
    expect_labels(label_tensor, labels, logits.size(1), options.ignore_index);
    // Logits that differ by up to 12 are subtracted. log has an error of up to 3 ulp.
    check_close(result.loss, shape, expected.loss, {8, options.reduction == Reduction::none ? 12.0 : 0});
    for_each_variant(variants.backward, [&] {
      check_close(ops::cross_entropy_backward(tensor_of(dy, shape), logits, label_tensor, result, options),
                  logits.shape(), expected.dx, {32});
    });
  });
}

}  // namespace

TEST_CASE("cross_entropy: sizes, reductions, smoothing and ignored rows") {
  const CrossEntropyVariants variants(with_lanes(row_variants(20)), with_lanes(row_variants(60)));
  for (const Shape& shape : {Shape{5, 10}, Shape{1, 1}, Shape{3, 16}, Shape{70, 3}, Shape{4, 133}}) {
    if (slow_device() && shape[0] > 5) continue;
    CAPTURE(shape);
    const auto x = random_values(1, shape.numel(), -6, 6);
    Labels labels = random_labels(2, shape[0], shape[1]);
    for (const Reduction reduction : reductions) {
      check_cross_entropy(variants, tensor_of(x, shape), x, labels, DType::i64, {reduction});
      check_cross_entropy(variants, tensor_of(x, shape), x, labels, DType::i64, {reduction, 0.1});
    }
    if (shape[0] < 3) continue;
    labels.list[1] = labels.list[2] = -100;
    for (const Reduction reduction : reductions)
      check_cross_entropy(variants, tensor_of(x, shape), x, labels, DType::i64, {reduction, 0.3});
    labels.list[1] = labels.list[2] = 0;
    check_cross_entropy(variants, tensor_of(x, shape), x, labels, DType::i64, {Reduction::mean, 0, 0});
  }
}

TEST_CASE("cross_entropy: label types and layouts") {
  const CrossEntropyVariants variants;
  const Shape shape{6, 19};
  const auto x = random_values(3, shape.numel(), -6, 6);
  const Labels labels = random_labels(4, 6, 19);
  for (const DType dtype : {DType::i64, DType::i32, DType::u8})
    check_cross_entropy(variants, tensor_of(x, shape), x, labels, dtype, {});
  for (const Layout layout : all_layouts) {
    CAPTURE(std::string(name_of(layout)));
    check_cross_entropy(variants, view_of(x, shape, layout), x, labels, DType::i64, {});
  }
}

TEST_CASE("cross_entropy: a label that is no class gives NaN in its row alone") {
  const CrossEntropyVariants variants(with_lanes(long_row_variants()));
  const Shape shape{5, 33};
  const auto x = random_values(5, shape.numel());
  const Labels labels{{3, 33, -1, 32, 1000000000000}};
  check_cross_entropy(variants, tensor_of(x, shape), x, labels, DType::i64, {Reduction::none});
  check_cross_entropy(variants, tensor_of(x, shape), x, labels, DType::i64, {Reduction::none, 0.5});
  const Tensor mean = ops::cross_entropy(tensor_of(x, shape), labels.tensor()).loss;
  check_error([&] { mean.item(); }, {"[cross_entropy]", "label", "[0, 33)"});
  CHECK(std::isnan(mean.item()));
}

TEST_CASE("cross_entropy: large logits, infinities, nothing to average") {
  const CrossEntropyVariants variants(with_lanes(row_variants(3)), with_lanes(row_variants(6)));
  std::vector<double> x(3 * 40, 1e4);
  for (std::size_t j = 0; j < 40; ++j) {
    x[j] += static_cast<double>(j) / 8;
    x[40 + j] = j == 7 ? 0 : -INFINITY;
    x[80 + j] = j == 7 ? -INFINITY : 0;
  }
  const Labels labels{{39, 7, 7}};
  check_cross_entropy(variants, tensor_of(x, {3, 40}), x, labels, DType::i64, {Reduction::none});
  for_each_variant(variants.forward, [&] {
    const Tensor mean = ops::cross_entropy(tensor_of(x, {3, 40}), labels.tensor()).loss;
    CHECK(mean.item() == INFINITY);
  });
  const Labels ignored{{-100, -100, -100}};
  check_cross_entropy(variants, tensor_of(x, {3, 40}), x, ignored, DType::i64, {});
  check_cross_entropy(variants, zeros({0, 4}), {}, {}, DType::i64, {});
  check_cross_entropy(variants, zeros({0, 4}), {}, {}, DType::i64, {Reduction::sum});
  check_cross_entropy(variants, zeros({0, 4}), {}, {}, DType::i64, {Reduction::none});
}

TEST_CASE("cross_entropy: the sum over many rows is exact to a few ulp") {
  const std::int64_t n = slow_device() ? 2000 : 300000;
  const auto x = random_values(6, n * 2, -2, 2);
  const Labels labels = random_labels(7, n, 2);
  const auto expected = reference::cross_entropy(x, labels.list, 2, {}, {1});
  CHECK(ops::cross_entropy(tensor_of(x, {n, 2}), labels.tensor()).loss.item() ==
        doctest::Approx(expected.loss[0]).epsilon(4e-7));
}

TEST_CASE("nll_loss: forward and backward agree with the reference") {
  const MustRun must_0("nll_loss", {"rows"});
  const MustRun must_1("nll_loss_backward", {"items"});
  // A group adds the losses of more than 4,096 rows, on CPUs too.
  const std::int64_t many = slow_device() ? 300 : 5000;
  for (const Shape& shape : {Shape{5, 10}, Shape{1, 1}, Shape{70, 3}, Shape{0, 3}, Shape{many, 2}}) {
    CAPTURE(shape);
    const auto x = random_values(1, shape.numel(), -6, 0);
    Labels labels = random_labels(2, shape[0], shape[1]);
    if (shape[0] > 2) labels.list[1] = -100;
    if (shape[0] == 70) labels.list[2] = 3;
    for (const Reduction reduction : reductions) {
      const Shape out = loss_shape(reduction, {shape[0]});
      const auto dy = loss_gradient(reduction, {shape[0]});
      const auto expected = reference::nll_loss(x, labels.list, shape[1], reduction, -100, dy);
      for (const Layout layout : all_layouts) {
        const auto result = ops::nll_loss(view_of(x, shape, layout), labels.tensor(), reduction);
        expect_labels(result.loss, labels, shape[1], -100);
        check_close(result.loss, out, expected.loss, {2});
        check_close(ops::nll_loss_backward(tensor_of(dy, out), labels.tensor(), result.scale, shape[1], reduction),
                    shape, expected.dx, {2});
      }
    }
  }
}

TEST_CASE("mse_loss: forward and backward agree with the reference") {
  const MustRun forward("mse_loss", row_variants(24)), backward("mse_loss_backward", row_variants(24));
  const std::int64_t large = slow_device() ? 3000 : 200003;
  for (const Shape& shape : {Shape{5, 7}, Shape{}, Shape{0, 3}, Shape{2, 3, 33}, Shape{large}}) {
    CAPTURE(shape);
    const auto x = random_values(1, shape.numel()), target = random_values(2, shape.numel());
    for (const Reduction reduction : reductions) {
      const Shape out = loss_shape(reduction, shape);
      const auto dy = loss_gradient(reduction, shape);
      const auto expected = reference::mse_loss(x, target, reduction, dy);
      for (const Layout layout : all_layouts) {
        if (layout != Layout::contiguous && shape == Shape{large}) continue;
        CAPTURE(std::string(name_of(layout)));
        const Tensor a = view_of(x, shape, layout), b = view_of(target, shape, layout);
        for_each_variant(forward, [&] { check_close(ops::mse_loss(a, b, reduction), out, expected.loss, {8}); });
        for_each_variant(backward, [&] {
          check_close(ops::mse_loss_backward(tensor_of(dy, out), a, b, reduction), shape, expected.dx, {4});
        });
      }
    }
  }
}

TEST_CASE("losses: refusals") {
  const Tensor x = zeros({2, 3}), labels = zeros({2}, DType::i64);
  check_error([&] { ops::cross_entropy(zeros({2}), labels); }, {"[cross_entropy]", "(N, C)", "(2)"});
  check_error([&] { ops::cross_entropy(zeros({2, 0}), labels); }, {"[cross_entropy]", "no classes"});
  check_error([&] { ops::cross_entropy(x, zeros({3}, DType::i64)); }, {"[cross_entropy]", "(2)", "(3)"});
  check_error([&] { ops::cross_entropy(x, zeros({2, 1}, DType::i64)); }, {"[cross_entropy]", "(2, 1)"});
  check_error([&] { ops::cross_entropy(x, zeros({2})); }, {"[cross_entropy]", "labels", "f32"});
  check_error([&] { ops::cross_entropy(zeros({2, 3}, DType::i32), labels); }, {"[cross_entropy]", "i32"});
  check_error([&] { crisol::cross_entropy(zeros({2, 3}, DType::u8), labels); }, {"[cross_entropy]", "u8"});
  check_error([&] { ops::cross_entropy(x, labels, {Reduction::mean, 1.5}); }, {"label_smoothing", "1.5"});
  check_error([&] { ops::cross_entropy(x, labels, {Reduction::mean, NAN}); }, {"label_smoothing", "nan"});
  const auto result = ops::cross_entropy(x, labels);
  check_error([&] { ops::cross_entropy_backward(zeros({2}), x, labels, result); }, {"[cross_entropy_backward]", "(2)"});
  check_error(
      [&] {
        ops::cross_entropy_backward(zeros({}), zeros({3, 3}), zeros({3}, DType::i64), result);
      },
      {"[cross_entropy_backward]", "moments", "(3, 2)"});
  check_error([&] { ops::nll_loss(x, zeros({3}, DType::i64)); }, {"[nll_loss]", "(3)"});
  check_error([&] { ops::nll_loss_backward(zeros({2}), labels, zeros({}), 3); }, {"[nll_loss_backward]", "(2)"});
  check_error([&] { ops::mse_loss(x, zeros({3, 2})); }, {"[mse_loss]", "(2, 3)", "(3, 2)"});
  check_error([&] { ops::mse_loss(x, zeros({2, 3}, DType::i32)); }, {"[mse_loss]", "target", "i32"});
  check_error([&] { ops::mse_loss_backward(zeros({2}), x, x); }, {"[mse_loss_backward]", "(2)"});
}
