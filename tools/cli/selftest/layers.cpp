// Pooling, normalisations, softmax, losses.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "cli/selftest/check.h"
#include "crisol/functions/pool.h"
#include "crisol/ops/loss.h"
#include "crisol/ops/norm.h"
#include "crisol/ops/pool.h"
#include "reference/images/pool.h"
#include "reference/images/pool_cases.h"
#include "reference/loss.h"
#include "reference/norm.h"

namespace crisol::cli::selftest {

namespace {

using reference::random_values;

void check_max_pool(Check& check) {
  for (const auto& c : reference::max_pool_cases) {
    const auto x = random_values(1, c.shape.numel());
    const reference::MaxPool expected = reference::max_pool2d(x, c.shape, c.options);
    const ops::MaxPool2dResult got = ops::max_pool2d(tensor_of(x, c.shape), c.options);
    check.equal(got.values, expected.shape, expected.values);
    check.equal(got.indices, expected.shape, expected.indices);
    const auto dy = random_values(2, expected.shape.numel());
    // Up to this number of windows contain an element, and each window adds at most 1.
    check.close(ops::max_pool2d_backward(tensor_of(dy, expected.shape), got.indices, c.shape, c.options), c.shape,
                reference::max_pool2d_backward(dy, expected, c.shape),
                {1, static_cast<double>(c.options.kernel.h * c.options.kernel.w)});
  }
}

void check_avg_pool(Check& check) {
  const Shape shape{1, 2, 7, 37};
  const auto x = random_values(3, shape.numel());
  for (const AvgPool2dOptions& options : reference::avg_pool_options) {
    const reference::AvgPool expected = reference::avg_pool2d(x, shape, options);
    check.close(ops::avg_pool2d(tensor_of(x, shape), options), expected.shape, expected.values, {10, 1});
    const auto dy = random_values(4, expected.shape.numel());
    check.close(ops::avg_pool2d_backward(tensor_of(dy, expected.shape), shape, options), shape,
                reference::avg_pool2d_backward(dy, shape, options), {12, 1});
  }
}

void check_adaptive_avg_pool(Check& check) {
  const Shape shape{2, 3, 7, 13};
  const auto x = random_values(5, shape.numel());
  for (const IntPair& output : {IntPair(1), IntPair(3, 5), IntPair(7, 13)}) {
    const reference::AvgPool expected = reference::adaptive_avg_pool2d(x, shape, output);
    check.close(ops::adaptive_avg_pool2d(tensor_of(x, shape), output), expected.shape, expected.values, {10, 1});
    const auto dy = random_values(6, expected.shape.numel());
    check.close(ops::adaptive_avg_pool2d_backward(tensor_of(dy, expected.shape), shape), shape,
                reference::adaptive_avg_pool2d_backward(dy, shape, output), {12, 1});
  }
}

void check_max_pool3d(Check& check) {
  for (const auto& c : reference::max_pool3d_cases) {
    const auto x = random_values(7, c.shape.numel());
    const reference::MaxPool expected = reference::max_pool3d(x, c.shape, c.options);
    const ExtremeResult got = max_pool3d_with_indices(tensor_of(x, c.shape), c.options);
    check.equal(got.values, expected.shape, expected.values);
    check.equal(got.indices, expected.shape, expected.indices);
  }
}

void check_avg_pool3d(Check& check) {
  const Shape shape{1, 2, 5, 7, 13};
  const auto x = random_values(8, shape.numel());
  const auto compare = [&](const Tensor& y, const reference::AvgPool& expected) {
    check.close(y, expected.shape, expected.values, {12, 1});
  };
  for (const AvgPool3dOptions& options : reference::avg_pool3d_options)
    compare(avg_pool3d(tensor_of(x, shape), options), reference::avg_pool3d(x, shape, options));
  for (const IntTriple& output : {IntTriple(1), IntTriple(3, 2, 5)})
    compare(adaptive_avg_pool3d(tensor_of(x, shape), output), reference::adaptive_avg_pool3d(x, shape, output));
}

std::vector<double> roots_of(const std::vector<double>& variances, double epsilon) {
  std::vector<double> roots;
  for (const double variance : variances) roots.push_back(1 / std::sqrt(variance + epsilon));
  return roots;
}

double largest(const std::vector<double>& values) { return *std::max_element(values.begin(), values.end()); }

void check_batch_norm(Check& check) {
  constexpr double epsilon = 1e-5;
  const Shape shape{9, 4, 20, 21}, row{4};
  const auto x = random_values(1, shape.numel()), dy = random_values(6, shape.numel());
  const auto weight = random_values(2, 4, 0.5, 2), bias = random_values(3, 4);
  const auto expected = reference::batch_norm(x, 9, 4, 420, weight, bias, epsilon);
  const auto invstd = roots_of(expected.var, epsilon);
  const auto result = ops::batch_norm2d(tensor_of(x, shape), tensor_of(weight, row), tensor_of(bias, row), zeros(row),
                                        ones(row), {true, 0.2, epsilon});
  check.close(result.y, shape, expected.y, {16, 4});
  check.close(result.mean, row, expected.mean, {8, 1});
  check.close(result.invstd, row, invstd, {16});
  for (const bool training : {true, false}) {
    const auto gradients =
        reference::batch_norm_backward(dy, x, 9, 4, 420, weight, expected.mean, expected.var, epsilon, !training);
    const auto got = ops::batch_norm2d_backward(tensor_of(dy, shape), tensor_of(x, shape), tensor_of(weight, row),
                                                tensor_of(expected.mean, row), tensor_of(invstd, row), training);
    const double root = std::sqrt(9 * 420 + 1.0), steepest = std::max(1.0, largest(invstd));
    check.close(got.x, shape, gradients.dx, {16, 8 * steepest});
    check.close(got.weight, row, gradients.dweight, {16, root * steepest});
    check.close(got.bias, row, gradients.dbias, {16, root});
  }
}

// Both directions of an op for rows of several lengths; `step` is the distance between neighbours in a row.
Op rows(const char* op, std::initializer_list<std::array<std::int64_t, 3>> rows_length_step) {
  std::vector<std::string> problems;
  for (const char* direction : {"", "_backward"})
    for (const auto& [count, length, step] : rows_length_step)
      problems.push_back(concat(op, direction, " rows=", count, " length=", length, " step=", step));
  return from_problems(op, std::move(problems));
}

void check_label_losses(Check& check) {
  for (const std::int64_t classes : {3, 10, 133}) {
    const std::int64_t rows = 37;
    const Shape shape{rows, classes};
    const auto x = random_values(1, shape.numel(), -6, 6);
    const auto picks = reference::random_integers(2, rows, 0, classes - 1);
    const std::vector<std::int64_t> labels(picks.begin(), picks.end());
    const Tensor logits = tensor_of(x, shape), label_tensor = from_vector(labels);
    for (const double smoothing : {0.0, 0.1}) {
      const CrossEntropyOptions options{Reduction::mean, smoothing};
      const auto expected = reference::cross_entropy(x, labels, classes, options, {1});
      const auto result = ops::cross_entropy(logits, label_tensor, options);
      check.close(result.loss, {}, expected.loss, {8});
      check.close(ops::cross_entropy_backward(ones({}), logits, label_tensor, result, options), shape, expected.dx,
                  {32});
    }
    const auto expected = reference::nll_loss(x, labels, classes, Reduction::sum, -100, {1});
    const auto result = ops::nll_loss(logits, label_tensor, Reduction::sum);
    check.close(result.loss, {}, expected.loss, {8, 6.0 * static_cast<double>(rows)});
    check.close(ops::nll_loss_backward(ones({}), label_tensor, result.scale, classes, Reduction::sum), shape,
                expected.dx, {2});
  }
}

void check_mse_loss(Check& check) {
  const Shape shape{41, 25};
  const auto x = random_values(1, shape.numel()), target = random_values(2, shape.numel());
  for (const Reduction reduction : {Reduction::mean, Reduction::sum}) {
    const auto expected = reference::mse_loss(x, target, reduction, {1});
    const Tensor a = tensor_of(x, shape), b = tensor_of(target, shape);
    check.close(ops::mse_loss(a, b, reduction), {}, expected.loss, {8});
    check.close(ops::mse_loss_backward(ones({}), a, b, reduction), shape, expected.dx, {4});
  }
}

}  // namespace

std::vector<Op> layers() {
  return {{"max_pool2d", check_max_pool},
          {"avg_pool2d", check_avg_pool},
          {"adaptive_avg_pool2d", check_adaptive_avg_pool},
          {"max_pool3d", check_max_pool3d},
          {"avg_pool3d", check_avg_pool3d},
          {"batch_norm2d", check_batch_norm},
          rows("layer_norm", {{13, 5, 1}, {13, 64, 1}, {13, 300, 1}}),
          rows("softmax", {{3, 10, 1}, {7, 16, 1}, {2, 300, 1}, {6, 40, 3}, {70, 3, 70}}),
          rows("log_softmax", {{3, 10, 1}, {7, 16, 1}, {2, 300, 1}, {6, 40, 3}, {70, 3, 70}}),
          {"cross_entropy_nll_loss", check_label_losses},
          {"mse_loss", check_mse_loss}};
}

}  // namespace crisol::cli::selftest
