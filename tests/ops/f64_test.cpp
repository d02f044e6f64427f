// f64: values that f32 does not hold, bounds of f64, and the error of devices without double precision.
#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "crisol/autograd.h"
#include "crisol/dtype_table.h"
#include "crisol/functions/compare.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "crisol/functions/linalg.h"
#include "crisol/functions/loss.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/norm.h"
#include "crisol/functions/reduce.h"
#include "crisol/functions/softmax.h"
#include "crisol/fuse.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/index.h"
#include "crisol/ops/matmul.h"
#include "crisol/ops/reduce.h"
#include "crisol/ops/sort.h"
#include "crisol/random.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/pointwise/pointwise_check.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Whether the default device computes in f64. Otherwise the test case counts as skipped.
bool computes_f64() {
  if (Device().info().fp64) return true;
  note_skip("needs double precision");
  return false;
}

Tensor doubles(const std::vector<double>& values, const Shape& shape) { return from_vector(values, shape); }
Tensor doubles(const std::vector<double>& values) { return from_vector(values); }

/// Fractions between -4 and 4 that f32 does not hold.
std::vector<double> fine_values(std::uint64_t seed, std::int64_t count) {
  std::vector<double> values = random_values(seed, count, -4, 4);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += 0x1p-40 * static_cast<double>(i % 7 + 1);
  return values;
}

}  // namespace

TEST_CASE("f64: storage, moves and printing need no double precision") {
  const std::vector<double> values{1.0 / 3, 1e300, -0x1p-1074, infinity};
  const Tensor x = doubles(values, {2, 2});
  CHECK(x.dtype() == DType::f64);
  CHECK(x.to_vector<double>() == values);
  CHECK(x.transpose(0, 1).contiguous().to_vector<double>() ==
        std::vector<double>{values[0], values[2], values[1], values[3]});
  CHECK(full({2}, 1.0 / 3, DType::f64).to_vector<double>() == std::vector<double>{1.0 / 3, 1.0 / 3});
  CHECK(arange(0.1, 0.35, 0.1, DType::f64).to_vector<double>() == std::vector<double>{0.1, 0.1 + 0.1, 0.1 + 2 * 0.1});
  CHECK(linspace(0, 1, 3, DType::f64).to_vector<double>() == std::vector<double>{0, 0.5, 1});
  CHECK(x[{0, 0}].item<double>() == 1.0 / 3);
  CHECK(index_select(x, 0, from_vector<std::int64_t>({1})).to_vector<double>() ==
        std::vector<double>{values[2], values[3]});
  const SortResult sorted = ops::sort(doubles({2, std::nan(""), -0.0, 1 + 0x1p-52, 1, 0.0, -infinity}));
  check_close(sorted.values, {-infinity, -0.0, 0.0, 1, 1 + 0x1p-52, 2, std::nan("")}, {0});
  CHECK(sorted.indices.to_vector<std::int64_t>() == std::vector<std::int64_t>{6, 2, 5, 4, 3, 0, 1});
  const SortResult top = ops::topk(doubles(fine_values(3, 1000)), 3);
  std::vector<double> all = fine_values(3, 1000);
  std::sort(all.begin(), all.end(), std::greater<>());
  CHECK(top.values.to_vector<double>() == std::vector<double>{all[0], all[1], all[2]});
  std::ostringstream text;
  text << doubles({0.5, 2});
  CHECK(text.str().find("dtype=f64") != std::string::npos);
}

TEST_CASE("f64: a device without double precision names the op, the rule and itself") {
  if (Device().info().fp64) CRISOL_SKIP("the device has double precision");
  const Tensor x = zeros({3}, DType::f64);
  check_error([&] { ops::exp(x); }, {"[exp]", "computes in f64", Device().name(), "cl_khr_fp64"});
  check_error([&] { ops::sum(x); }, {"[sum]", "computes in f64"});
}

TEST_CASE("f64: conversions are exact or rounded once") {
  if (!computes_f64()) return;
  const std::int64_t large = (std::int64_t{1} << 52) + 1;
  CHECK(ops::cast(from_vector<std::int64_t>({large, -large}), DType::f64).to_vector<double>() ==
        std::vector<double>{0x1p52 + 1, -0x1p52 - 1});
  CHECK(ops::cast(doubles({0x1p52 + 1, -2.75}), DType::i64).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{large, -2});
  check_close(ops::cast(doubles({-2.75, 100.5, 3e9}), DType::boolean), {1, 1, 1}, {0});
  check_close(ops::cast(doubles({-2.75, 100.5, 7}), DType::i32), {-2, 100, 7}, {0});
  check_close(ops::cast(doubles({0, 100.5, 7}), DType::u8), {0, 100, 7}, {0});
  check_close(ops::cast(doubles({1.0 / 3, 1e300, -1e-300}), DType::f32), {1.0f / 3.0f, infinity, 0}, {0});
  for (const DType from : {DType::f32, DType::f16, DType::i32, DType::u8, DType::boolean})
    check_close(ops::cast(tensor_of({0, 1, 1, 0, 1}, {5}, from), DType::f64), {0, 1, 1, 0, 1}, {0});
  // Just above the middle of two halves: f32 would round it to the middle first, and f16 then to even.
  check_close(ops::cast(doubles({1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-11, 1 + 3 * 0x1p-11 - 0x1p-40, 65519.999999, 65520,
                                 1e300, -1e-300, infinity, std::nan("")}),
                        DType::f16),
              {1 + 0x1p-10, 1, 1 + 0x1p-10, 65504, infinity, infinity, 0, infinity, std::nan("")}, {0});
  CHECK((doubles({1}) + ones({1})).dtype() == DType::f64);
  CHECK((doubles({1}) + 0.1).to_vector<double>() == std::vector<double>{1 + 0.1});
  CHECK((ones({1}) + 0.1).dtype() == DType::f32);
  CHECK(doubles({1 + 0x1p-52}).gt(1).item<int>() == 1);
  const Tensor filled = empty({3}, DType::f64);
  ops::fill_into(filled, 1.0 / 3);
  CHECK(filled.to_vector<double>() == std::vector<double>(3, 1.0 / 3));
  CHECK_FALSE(allclose(doubles({1}), doubles({1 + 1e-12}), 1e-13, 0));
}

TEST_CASE("f64: every pointwise row and its derivatives") {
  if (!computes_f64()) return;
  const std::vector<RowUnderTest> rows = table_rows();
  constexpr std::int64_t count = 83;
  const std::vector<double> mask = random_integers(5, count, 0, 1);
  std::vector<RowUnderTest> tested;
  const bool slow = Device().info().platform == "rusticl" || Device().info().platform == "Oclgrind";
  for (std::size_t r = 0; r < rows.size(); r += slow ? 12 : 1)
    if (rows[r].row->rule != ops::RowRule::whole) tested.push_back(rows[r]);
  std::vector<std::vector<double>> values;
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < 3; ++i) {
    values.push_back(fine_values(11 + i, count));
    tensors.push_back(doubles(values[i]));
  }
  const auto inputs_of = [&](const RowUnderTest& row) {
    std::vector<std::vector<double>> own;
    for (std::size_t i = 0; i < row.row->input_count; ++i) own.push_back(row.row->is_condition(i) ? mask : values[i]);
    return own;
  };
  const Tensor holds = tensor_of(mask, {count}, DType::boolean);
  const std::vector<Tensor> results = run_rows(tested, tensors, holds);
  for (std::size_t r = 0; r < tested.size(); ++r) {
    CAPTURE(std::string(tested[r].row->name));
    check_each(results[r], expected_values(tested[r], inputs_of(tested[r]), results[r].dtype()), 64);
  }
  const std::vector<double> dy = fine_values(31, count);
  for (std::size_t k = 0; k < 3; ++k) {
    std::vector<RowUnderTest> with;
    for (const RowUnderTest& row : tested)
      if (row.row->has_derivative(k)) with.push_back(row);
    const std::vector<Tensor> gradients = run_derivatives(with, k, doubles(dy), tensors, holds);
    for (std::size_t r = 0; r < with.size(); ++r) {
      CAPTURE(std::string(with[r].row->name));
      CAPTURE(k);
      CHECK(gradients[r].dtype() == DType::f64);
      check_each(gradients[r], expected_derivatives(with[r], k, dy, inputs_of(with[r])), 256);
    }
  }
}

TEST_CASE("f64: reductions and running sums within bounds of f64") {
  if (!computes_f64()) return;
  // Products of whole numbers and a power of two have exact sums.
  const std::vector<double> whole = random_integers(7, 6 * 1000, -1000000, 1000000);
  std::vector<double> exact, halves;
  for (const double value : whole) halves.push_back(value * 0x1p-30 + 0x1p-52);
  const Tensor x = doubles(halves, {6, 1000});
  for (int row = 0; row < 6; ++row) {
    long double sum = 0;
    for (int i = 0; i < 1000; ++i) sum += halves[static_cast<std::size_t>(row * 1000 + i)];
    exact.push_back(static_cast<double>(sum));
  }
  check_close(ops::sum(x, {1}), exact, {1});
  check_close(ops::mean(x.transpose(0, 1), {0}),
              [&] {
                std::vector<double> means;
                for (const double sum : exact) means.push_back(sum / 1000);
                return means;
              }(),
              {2});
  const Tensor shifted = doubles({1e9 + 1, 1e9 + 2, 1e9 + 4});
  check_close(ops::var(shifted), {7.0 / 3}, {4});
  check_close(ops::stddev(shifted), {std::sqrt(7.0 / 3)}, {4});
  CHECK(ops::max(doubles({1, 1 + 0x1p-52})).item<double>() == 1 + 0x1p-52);
  CHECK(ops::argmax(doubles({1, 1 + 0x1p-52, 1})).item<int>() == 1);
  CHECK(ops::any(doubles({0, 1e-300})).item<int>() == 1);
  check_close(ops::logsumexp(doubles({1000, 1000, 1000.5})), {1000.5 + std::log(1 + 2 * std::exp(-0.5))}, {4});
  check_close(ops::norm(doubles({1.1, -2.2, 3.3}), 3),
              {std::pow(std::pow(1.1, 3) + std::pow(2.2, 3) + std::pow(3.3, 3), 1.0 / 3)}, {8});
  check_close(ops::norm(doubles({3e200, 4e-200}), 1), {3e200}, {2});
  check_close(ops::prod(doubles({1.1, 2.2, 1e100})), {1.1 * 2.2 * 1e100}, {4});
  for (const Shape& shape : {Shape{300}, Shape{3, 100}, Shape{100, 3}}) {
    const std::vector<double> terms = fine_values(5, 300);
    std::vector<double> sums = terms;
    const std::int64_t inner = shape.rank() == 1 || shape[1] == 100 ? 1 : 3, n = inner == 3 ? 100 : shape.back();
    for (std::int64_t i = 0; i < 300; ++i)
      if (i / inner % n > 0) sums[static_cast<std::size_t>(i)] += sums[static_cast<std::size_t>(i - inner)];
    check_close(ops::cumsum(doubles(terms, shape), inner == 3 ? 0 : -1), sums, {300, 4});
  }
  check_close(ops::cumprod(doubles({1.1, 1.1, 1.1}), 0), {1.1, 1.1 * 1.1, 1.1 * 1.1 * 1.1}, {2});
  check_close(ops::logcumsumexp(doubles({0.1, 0.1}), 0), {0.1, 0.1 + std::log(2.0)}, {4});
}

TEST_CASE("f64: scatter, search and random numbers") {
  if (!computes_f64()) return;
  const Tensor at = from_vector<std::int64_t>({1, 1, 0});
  CHECK(ops::index_add(zeros({2}, DType::f64), 0, at, doubles({1, 0x1p-50, 0.1})).to_vector<double>() ==
        std::vector<double>{0.1, 1 + 0x1p-50});
  CHECK(ops::searchsorted(doubles({1, 1 + 0x1p-52}), doubles({1 + 0x1p-52})).item<int>() == 1);
  Tensor numbers = empty({1000}, DType::f64);
  uniform_(numbers, 2, 3, Generator(5));
  CHECK(ops::min(numbers).item<double>() >= 2);
  CHECK(ops::max(numbers).item<double>() < 3);
  normal_(numbers, 1, 2, Generator(5));
  CHECK(std::abs(ops::mean(numbers).item<double>() - 1) < 0.3);
}

TEST_CASE("f64: products and linear algebra") {
  if (!computes_f64()) return;
  constexpr std::int64_t m = 7, k = 19, n = 21;
  const std::vector<double> a = fine_values(1, 2 * m * k), b = fine_values(2, k * n), shift = fine_values(3, n);
  std::vector<double> expected, with_bias;
  for (std::int64_t i = 0; i < 2 * m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      long double sum = 0;
      for (std::int64_t l = 0; l < k; ++l)
        sum +=
            static_cast<long double>(a[static_cast<std::size_t>(i * k + l)]) * b[static_cast<std::size_t>(l * n + j)];
      expected.push_back(static_cast<double>(sum));
      with_bias.push_back(static_cast<double>(sum + shift[static_cast<std::size_t>(j)]));
    }
  const Tensor left = doubles(a, {2, m, k}), right = doubles(b, {k, n});
  check_close(matmul(left, right), {2, m, n}, expected, {k, 100});
  check_close(linear(left, right.transpose(0, 1), doubles(shift)), {2, m, n}, with_bias, {k, 100});
  const Tensor square = doubles({4, 1, 0.5, 1, 3, 0.25, 0.5, 0.25, 2}, {3, 3});
  check_close(matmul(square, inv(square)), {1, 0, 0, 0, 1, 0, 0, 0, 1}, {16, 1});
  check_close(det(square), {4 * (6 - 0.0625) - (2 - 0.125) + 0.5 * (0.25 - 1.5)}, {8});
  const Tensor l = cholesky(square);
  check_close(matmul(l, l.transpose(0, 1)), square.to_vector<double>(), {16, 4});
}

TEST_CASE("f64: decompositions") {
  if (!computes_f64()) return;
  const auto transposed = [](const Tensor& t) { return t.transpose(-1, -2); };
  for (const Shape& shape : {Shape{2, 7, 5}, Shape{1, 5, 7}, Shape{1, 19, 6}}) {
    CAPTURE(shape);
    const Tensor x = doubles(fine_values(3, shape.numel()), shape);
    const std::vector<double> values = x.to_vector<double>();
    const QrResult of_qr = qr(x);
    check_close(matmul(of_qr.q, of_qr.r), values, {32, 8});
    const Tensor unit = eye(of_qr.q.size(-1), {}, DType::f64);
    check_close(matmul(transposed(of_qr.q), of_qr.q),
                unit.expand({shape[0], unit.size(0), unit.size(0)}).to_vector<double>(), {32, 1});
    const SvdResult of_svd = svd(x, false);
    check_close(matmul(of_svd.u * of_svd.s.unsqueeze(-2), of_svd.vh), values, {128, 8});
    const EighResult of_eigh = eigh(matmul(x, transposed(x)));
    check_close(matmul(of_eigh.eigenvectors * of_eigh.eigenvalues.unsqueeze(-2), transposed(of_eigh.eigenvectors)),
                matmul(x, transposed(x)).to_vector<double>(), {128, 64});
  }
}

namespace {

/// Compares the gradient of f at x with differences.
template <class F>
void check_gradient(const char* name, const std::vector<double>& at, const Shape& shape, const F& f) {
  CAPTURE(std::string(name));
  Tensor x = doubles(at, shape);
  x.requires_grad_();
  f(x).backward();
  CHECK(x.grad().dtype() == DType::f64);
  const std::vector<double> gradient = x.grad().template to_vector<double>();
  for (std::size_t i = 0; i < at.size(); i += 3) {
    std::vector<double> up = at, down = at;
    up[i] += 1e-6;
    down[i] -= 1e-6;
    const double difference =
        (f(doubles(up, shape)).template item<double>() - f(doubles(down, shape)).template item<double>()) / 2e-6;
    CHECK(std::abs(gradient[i] - difference) <= 1e-7 * std::max(1.0, std::abs(difference)));
  }
}

}  // namespace

TEST_CASE("f64: softmax, losses, norms and their gradients") {
  if (!computes_f64()) return;
  const Shape shape{3, 4};
  const std::vector<double> values = fine_values(13, 12), scales = fine_values(14, 4);
  const Tensor x = doubles(values, shape), weight = doubles(scales), labels = from_vector<std::int64_t>({2, 0, -100});
  std::vector<double> logarithms, probabilities, normalized;
  for (std::size_t row = 0; row < 12; row += 4) {
    long double sum = 0, mean = 0, squares = 0;
    for (std::size_t i = row; i < row + 4; ++i) {
      sum += std::exp(static_cast<long double>(values[i]));
      mean += values[i] / 4.0L;
    }
    for (std::size_t i = row; i < row + 4; ++i) squares += (values[i] - mean) * (values[i] - mean) / 4.0L;
    for (std::size_t i = row; i < row + 4; ++i) {
      logarithms.push_back(static_cast<double>(values[i] - std::log(sum)));
      probabilities.push_back(static_cast<double>(std::exp(static_cast<long double>(values[i])) / sum));
      normalized.push_back(static_cast<double>((values[i] - mean) / std::sqrt(squares + 1e-5L) * scales[i - row]));
    }
  }
  check_close(softmax(x, 1), probabilities, {16, 1});
  check_close(log_softmax(x, 1), logarithms, {8, 8});
  check_close(softmax(x.transpose(0, 1), 0).transpose(0, 1), probabilities, {16, 1});
  check_close(cross_entropy(x, labels), {-(logarithms[2] + logarithms[4]) / 2}, {8, 8});
  check_close(nll_loss(x, labels, Reduction::sum), {-(values[2] + values[4])}, {4});
  check_close(mse_loss(x, zeros_like(x), Reduction::none),
              [&] {
                std::vector<double> squares;
                for (const double value : values) squares.push_back(value * value);
                return squares;
              }(),
              {2});
  check_close(layer_norm(x, {4}, weight), normalized, {32, 4});
  const Tensor running_mean = zeros({4}, DType::f64), running_var = ones({4}, DType::f64);
  const Tensor y = batch_norm2d(x, weight, {}, running_mean, running_var, {.training = true, .momentum = 0.5});
  check_close(y.mean({0}), std::vector<double>(4, 0), {16, 4});
  check_close(running_mean, (x.mean({0}) * 0.5).to_vector<double>(), {4, 4});
  check_close(batch_norm2d(x, {}, {}, running_mean, running_var, {.training = false}),
              ((x - running_mean) / sqrt(running_var + 1e-5)).to_vector<double>(), {16, 4});
  check_error([&] { batch_norm2d(x, weight, {}, zeros({4}), ones({4})); }, {"[batch_norm2d]", "the running mean"});
  const auto weighted = [&](const Tensor& t) { return (t * doubles(fine_values(15, 12), shape)).sum(); };
  check_gradient("softmax", values, shape, [&](const Tensor& t) { return weighted(softmax(t, 1)); });
  check_gradient("log_softmax", values, shape, [&](const Tensor& t) { return weighted(log_softmax(t, 0)); });
  check_gradient("cross_entropy", values, shape,
                 [&](const Tensor& t) { return cross_entropy(t, labels, {.label_smoothing = 0.1}); });
  check_gradient("mse_loss", values, shape, [&](const Tensor& t) { return mse_loss(t, x * 0.5); });
  check_gradient("layer_norm", values, shape, [&](const Tensor& t) { return weighted(layer_norm(t, {4}, weight)); });
  check_gradient("batch_norm2d", values, shape,
                 [&](const Tensor& t) { return weighted(batch_norm2d(t, weight, {}, {}, {}, {.training = true})); });
  check_gradient("linear", values, shape, [&](const Tensor& t) {
    return weighted(linear(t, doubles(fine_values(16, 16), {4, 4}), weight));
  });
  check_gradient("cumprod", values, shape, [&](const Tensor& t) { return weighted(cumprod(t, 1)); });
  check_gradient("logcumsumexp", values, shape, [&](const Tensor& t) { return weighted(logcumsumexp(t, 1)); });
  check_gradient("svd", values, shape, [&](const Tensor& t) { return svdvals(t).sum(); });
}

TEST_CASE("f64: gradients of pointwise functions, fused functions") {
  if (!computes_f64()) return;
  check_gradient("pointwise", fine_values(9, 5), {5},
                 [](const Tensor& x) { return (exp(x * 0.3) * sin(x) + pow(x.square() + 1, 0.7)).sum(); });
  const auto fused = fuse([](const Expr& a, const Expr& b) { return sum(a * b + 0.1); });
  check_close(fused(doubles({0.1, 0.2}), doubles({0.3, 0.4})), {0.1 * 0.3 + 0.1 + (0.2 * 0.4 + 0.1)}, {4});
}
