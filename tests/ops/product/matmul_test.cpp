// Matrix products, compared with the reference: every variant, odd sizes, views, batches, refusals.
#include "crisol/ops/matmul.h"

#include <algorithm>
#include <limits>
#include <span>
#include <string>

#include "crisol/ops/copy.h"
#include "crisol/ops/view.h"
#include "doctest/doctest.h"
#include "ops/product/gemm_operands.h"
#include "reference/matmul.h"
#include "support/compare.h"
#include "support/coverage.h"
#include "support/skip.h"
#include "tensor/kernel_args.h"

namespace crisol {

namespace {

using testing::check_close;
using testing::check_error;
using testing::Expected;
using testing::for_each_variant;
using testing::Layout;
using testing::MustRun;
using testing::on_cpus;
using testing::random_values;
using testing::run_variant;
using testing::some;
using testing::tensor_of;
using testing::view_of;

// "block" has its own test, gemm_block_test.cpp, because its many programs take long to compile for CPUs. "cpu_dot"
// takes only products whose depth is contiguous in both operands. `cpu_dot` is their number, or 0 if all are.
std::vector<Expected> few_variants(int cpu_dot = 0) {
  return {some(cpu_dot, on_cpus("cpu_dot")), on_cpus("cpu_tiled"), "plain"};
}

std::vector<Expected> all_variants(int cpu_dot = 0) {
  std::vector<Expected> all = few_variants(cpu_dot);
  all.emplace_back("block");
  return all;
}

// k products of at most 1 are added, so no partial sum is larger than k.
testing::Tolerance tolerance(std::int64_t k) { return {2, static_cast<double>(k + 1)}; }

// The same elements, stored column-major.
Tensor stored_transposed(const std::vector<double>& values, std::int64_t rows, std::int64_t columns) {
  std::vector<double> transposed(values.size());
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      transposed[static_cast<std::size_t>(j * rows + i)] = values[static_cast<std::size_t>(i * columns + j)];
  return ops::transpose(tensor_of(transposed, {columns, rows}), 0, 1);
}

Tensor stored(const std::vector<double>& values, std::int64_t rows, std::int64_t columns, bool transposed) {
  return transposed ? stored_transposed(values, rows, columns) : tensor_of(values, {rows, columns});
}

void check_sizes(const MustRun& variants, std::int64_t m, std::int64_t n, std::int64_t k) {
  CAPTURE(m);
  CAPTURE(n);
  CAPTURE(k);
  const std::vector<double> a = random_values(1, m * k);
  const std::vector<double> b = random_values(2, k * n);
  const reference::Product expected = reference::matmul(a, {m, k}, b, {k, n});
  for (const bool a_transposed : {false, true})
    for (const bool b_transposed : {false, true}) {
      CAPTURE(a_transposed);
      CAPTURE(b_transposed);
      for_each_variant(variants, [&] {
        const Tensor y = ops::matmul(stored(a, m, k, a_transposed), stored(b, k, n, b_transposed));
        check_close(y, expected.shape, expected.values, tolerance(k));
      });
    }
}

}  // namespace

TEST_CASE("matmul: small and odd sizes, both operands in either order") {
  const struct {
    std::int64_t m, n, k;
  } sizes[] = {{1, 1, 1}, {1, 7, 3}, {5, 1, 9}, {3, 4, 0}, {2, 3, 17}, {13, 25, 5}, {16, 49, 11}, {31, 15, 33}};
  const MustRun variants("matmul", few_variants(13));
  for (const auto& size : sizes) check_sizes(variants, size.m, size.n, size.k);
}

TEST_CASE("matmul: sizes around the tiles and the blocks of the depth") {
  if (testing::slow_device()) CRISOL_SKIP("50 million multiply-adds");
  const struct {
    std::int64_t m, n, k;
  } sizes[] = {{8, 48, 16},    {9, 47, 17},  {65, 97, 64},     {64, 10, 128},
               {70, 200, 515}, {3, 5, 2000}, {130, 260, 1030}, {391, 53, 519}};
  const MustRun variants("matmul", few_variants(8));
  for (const auto& size : sizes) check_sizes(variants, size.m, size.n, size.k);
}

TEST_CASE("matmul: every tile, depth and packing of cpu_tiled") {
  const struct {
    std::int64_t m, n, k;
  } sizes[] = {{25, 50, 260},
               {9, 650, 20},     // Two blocks of the depth, and panels that are packed together.
               {131, 50, 260}};  // There are so many rows that the left operand is packed too.
  const MustRun must("matmul", {on_cpus("cpu_tiled")});
  const std::span<const std::string> configs = ops::cpu_tiled_configs();
  const std::size_t tried = testing::slow_device() ? 4 : configs.size();  // The smallest depths come first.
  int accepted = 0;
  for (const auto& [m, n, k] : sizes) {
    if (testing::slow_device() && m > 100) continue;
    const std::vector<double> a = random_values(1, m * k);
    const std::vector<double> b = random_values(2, k * n);
    const reference::Product expected = reference::matmul(a, {m, k}, b, {k, n});
    for (const std::string& config : configs.first(tried)) {
      CAPTURE(config);
      const std::string variant = "cpu_tiled/" + config;
      for (const bool b_transposed : {false, true})
        accepted += run_variant("matmul", variant.c_str(), [&] {
          const Tensor y = ops::matmul(tensor_of(a, {m, k}), stored(b, k, n, b_transposed));
          check_close(y, expected.shape, expected.values, tolerance(k));
        });
    }
  }
  if (dispatch::target_of(Device().state()).takes_cpu_kernels()) CHECK(accepted >= 8);
}

TEST_CASE("matmul: every layout of the operands") {
  const std::int64_t m = 9, n = 11, k = 10;
  const std::vector<double> a = random_values(3, m * k);
  const std::vector<double> b = random_values(4, k * n);
  const reference::Product expected = reference::matmul(a, {m, k}, b, {k, n});
  const MustRun variants("matmul", few_variants(3));
  for (const Layout left : testing::all_layouts)
    for (const Layout right : testing::all_layouts) {
      CAPTURE(testing::name_of(left));
      CAPTURE(testing::name_of(right));
      for_each_variant(variants, [&] {
        check_close(ops::matmul(view_of(a, {m, k}, left), view_of(b, {k, n}, right)), expected.shape, expected.values,
                    tolerance(k));
      });
    }
}

TEST_CASE("matmul: batches broadcast") {
  const struct {
    Shape a, b;
  } cases[] = {{{3, 5, 4}, {3, 4, 6}},       {{3, 5, 4}, {4, 6}},          {{5, 4}, {3, 4, 6}},
               {{2, 1, 5, 4}, {3, 4, 6}},    {{2, 3, 5, 4}, {2, 1, 4, 6}}, {{2, 3, 2, 3}, {2, 3, 3, 2}},
               {{1, 3, 2, 3}, {2, 1, 3, 2}}, {{4, 1, 3}, {4, 3, 1}},       {{2, 1, 2, 2, 3}, {3, 1, 3, 4}}};
  const MustRun variants("matmul", all_variants(4));
  for (const auto& c : cases) {
    CAPTURE(c.a);
    CAPTURE(c.b);
    const std::vector<double> a = random_values(5, c.a.numel());
    const std::vector<double> b = random_values(6, c.b.numel());
    const reference::Product expected = reference::matmul(a, c.a, b, c.b);
    for (const Layout layout : {Layout::contiguous, Layout::permuted, Layout::strided}) {
      if (testing::slow_device() && layout != Layout::contiguous) continue;
      for_each_variant(variants, [&] {
        check_close(ops::matmul(view_of(a, c.a, layout), view_of(b, c.b, layout)), expected.shape, expected.values,
                    tolerance(c.a.back()));
      });
    }
  }
}

TEST_CASE("matmul: expanded operands") {
  const std::vector<double> row = random_values(7, 6);
  const std::vector<double> b = random_values(8, 6 * 5);
  std::vector<double> a;
  for (int i = 0; i < 4; ++i) a.insert(a.end(), row.begin(), row.end());
  const reference::Product expected = reference::matmul(a, {4, 6}, b, {6, 5});
  check_close(ops::matmul(ops::expand(tensor_of(row, {1, 6}), {4, 6}), tensor_of(b, {6, 5})), expected.shape,
              expected.values, tolerance(6));
}

TEST_CASE("matmul: nothing in, nothing or zeros out") {
  CHECK(ops::matmul(zeros({0, 3}), zeros({3, 4})).shape() == Shape{0, 4});
  CHECK(ops::matmul(zeros({2, 0, 3}), zeros({3, 4})).shape() == Shape{2, 0, 4});
  CHECK(ops::matmul(zeros({0, 2, 3}), zeros({3, 4})).shape() == Shape{0, 2, 4});
  for_each_variant(MustRun("matmul", {on_cpus("cpu_tiled"), "plain"}), [] {
    check_close(ops::matmul(zeros({2, 3, 0}), zeros({0, 4})), {2, 3, 4}, std::vector<double>(24, 0.0), {0});
  });
}

TEST_CASE("gemm: addition to C, biases, relu, a transposed C") {
  const std::int64_t m = 10, n = 13, k = 7;
  const std::vector<double> a = random_values(9, m * k), b = random_values(10, k * n), c = random_values(11, m * n);
  const std::vector<double> bias = random_values(12, std::max(m, n));
  const reference::Product product = reference::matmul(a, {m, k}, b, {k, n});
  const Tensor left = tensor_of(a, {m, k}), right = stored_transposed(b, k, n), shift = tensor_of(bias, {n});
  const MustRun variants("matmul", all_variants());
  for (const bool transposed : {false, true})
    for (const std::int32_t flags : {0, 1, 2, 4, 8, 3, 5, 13, 10}) {
      CAPTURE(transposed);
      CAPTURE(flags);
      std::vector<double> expected = product.values;
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          double& value = expected[static_cast<std::size_t>(i * n + j)];
          if (flags & ops::add_to_c) value += c[static_cast<std::size_t>(i * n + j)];
          if (flags & ops::bias_per_row) value += bias[static_cast<std::size_t>(i)];
          if (flags & ops::bias_per_column) value += bias[static_cast<std::size_t>(j)];
          if (flags & ops::with_relu) value = std::max(value, 0.0);
        }
      for_each_variant(variants, [&] {
        const Tensor y = stored(c, m, n, transposed);
        ops::gemm({.device = state_of(y),
                   .m = m,
                   .n = n,
                   .k = k,
                   .a = {in(left), k, 1},
                   .b = {in(right), 1, k},
                   .c = {out(y), y.strides()[0], y.strides()[1]},
                   .flags = flags,
                   .bias = in(shift)});
        check_close(y, {m, n}, expected, tolerance(k));
      });
    }
}

TEST_CASE("linear: values for any leading axes, with and without bias") {
  const MustRun variants("matmul", few_variants(19));
  for (const Shape& shape : {Shape{4, 7}, Shape{7}, Shape{2, 3, 7}, Shape{1, 1, 7}, Shape{5, 0}, Shape{0, 7}}) {
    const std::int64_t inputs = shape.back(), outputs = 5;
    const std::vector<double> x = random_values(13, shape.numel());
    const std::vector<double> weight = random_values(14, outputs * inputs);
    const std::vector<double> bias = random_values(15, outputs);
    const Tensor w = tensor_of(weight, {outputs, inputs});
    CAPTURE(shape);
    for (const Layout layout : testing::all_layouts) {
      if (testing::slow_device() && layout != Layout::contiguous && shape.rank() != 3) continue;
      const Tensor input = view_of(x, shape, layout);
      for_each_variant(variants, [&] {
        const reference::Product plain = reference::linear(x, shape, weight, {outputs, inputs}, {});
        check_close(ops::linear(input, w), plain.shape, plain.values, tolerance(inputs));
        const reference::Product shifted = reference::linear(x, shape, weight, {outputs, inputs}, bias);
        check_close(ops::linear(input, w, tensor_of(bias, {outputs})), shifted.shape, shifted.values,
                    tolerance(inputs));
      });
    }
  }
}

TEST_CASE("linear keeps a packed weight for as long as it stays as it is") {
  const MustRun variants("matmul",
                         {some(10, on_cpus("cpu_skinny")), on_cpus("cpu_tiled"), on_cpus("cpu_dot"), "plain"});
  const struct {
    std::int64_t m, n, k;
  } sizes[] = {{1, 10, 128}, {1, 200, 77}, {1, 800, 31}, {3, 48, 16},
               {5, 65, 33},  {16, 7, 50},  {17, 100, 9}, {64, 50, 600}};
  for (const auto& size : sizes) {
    const auto [m, n, k] = size;
    if (testing::slow_device() && m * n * k > 30000) continue;
    CAPTURE(m);
    CAPTURE(n);
    const std::vector<double> x = random_values(21, m * k), bias = random_values(22, n);
    std::vector<double> w = random_values(23, n * k);
    const Tensor input = tensor_of(x, {m, k}), shift = tensor_of(bias, {n}), weight = tensor_of(w, {n, k});
    for (int change = 0; change < 2; ++change) {
      const reference::Product expected = reference::linear(x, {m, k}, w, {n, k}, bias);
      const Tensor first = ops::linear(input, weight, shift);
      check_close(first, expected.shape, expected.values, tolerance(k));
      for (int use = 1; use < 4; ++use) {
        CAPTURE(use);
        CHECK(ops::linear(input, weight, shift).to_vector<float>() == first.to_vector<float>());
      }
      for_each_variant(variants, [&] {
        check_close(ops::linear(input, weight, shift), expected.shape, expected.values, tolerance(k));
      });
      w = random_values(24, n * k);
      ops::copy_into(weight, tensor_of(w, {n, k}));
    }
  }
}

TEST_CASE("a packed weight is counted, kept from its second use on, and dropped when the weight is written") {
  NEEDS_OWN_CHOICES();
  if (!dispatch::target_of(Device().state()).takes_cpu_kernels())
    CRISOL_SKIP("only the variants for CPUs pack weights");
  const Tensor input = ones({2, 100}), weight = ones({96, 100});
  const auto held = [] { return Device().memory_stats().in_use; };
  const std::uint64_t before = held();
  ops::linear(input, weight);
  CHECK(held() == before);
  ops::linear(input, weight);
  const std::uint64_t with_copy = held();
  CHECK(with_copy >= before + 4 * 96 * 100);
  ops::linear(input, weight);
  CHECK(held() == with_copy);
  ops::fill_into(weight, 2);
  CHECK(held() == before);
  check_close(ops::linear(input, weight), {2, 96}, std::vector<double>(192, 200.0), {0});
}

TEST_CASE("matmul on CPUs: products of rows where the depth is large and contiguous, tiles elsewhere") {
  NEEDS_OWN_CHOICES();
  DeviceInfo info;
  info.type = DeviceType::cpu;
  info.compute_units = 8;
  dispatch::Target target{info, 16, std::numeric_limits<std::int64_t>::max()};
  const auto chosen = [&](std::int64_t m, std::int64_t n, std::int64_t k, bool b_by_columns, bool b_is_weight = false) {
    ops::GemmProblem problem{.m = m, .n = n, .k = k, .a = {k, 1}, .b = {n, 1}, .c = {n, 1}};
    if (b_by_columns) problem.b = {1, k};
    problem.b_is_weight = b_is_weight ? 1 : 0;
    return ops::choose_gemm(problem, target).variant;
  };
  CHECK(chosen(64, 64, 4096, true) == "cpu_dot");
  CHECK(chosen(64, 64, 4096, false) == "cpu_tiled");
  CHECK(chosen(64, 64, 64, true) == "cpu_tiled");
  CHECK(chosen(512, 512, 4096, true) == "cpu_tiled");
  CHECK(chosen(64, 10, 4096, true, true) == "cpu_dot");
  CHECK(chosen(64, 64, 4096, true, true) == "cpu_tiled");
  const ForcedVariant forced("matmul", "cpu_tiled");
  CHECK(chosen(64, 64, 4096, true) == "cpu_tiled");
}

TEST_CASE("matmul: the same bits on every run") {
  if (testing::slow_device()) CRISOL_SKIP("25 million multiply-adds");
  const Tensor a = tensor_of(random_values(16, 64 * 3000), {64, 3000});
  const Tensor b = stored_transposed(random_values(17, 3000 * 128), 3000, 128);
  for_each_variant(MustRun("matmul", few_variants()), [&] {
    const std::vector<float> first = ops::matmul(a, b).to_vector<float>();
    CHECK(ops::matmul(a, b).to_vector<float>() == first);
  });
}

TEST_CASE("matmul and linear refuse bad arguments") {
  const Tensor x = ones({2, 3});
  check_error([&] { ops::matmul(x, ones({4, 2})); }, {"[matmul]", "(2, 3)", "(4, 2)"});
  check_error([&] { ops::matmul(x, ones({3})); }, {"[matmul]", "at least 2 axes", "(3)"});
  check_error([&] { ops::matmul(x, ones({3, 2}, DType::i32)); }, {"[matmul]", "one dtype", "f32", "i32"});
  check_error([&] { ops::matmul(ones({2, 2, 3}), ones({3, 3, 2})); }, {"[matmul]", "broadcast", "(2)", "(3)"});
  check_error([&] { ops::linear(x, ones({4, 2})); }, {"[linear]", "3", "(4, 2)"});
  check_error([&] { ops::linear(x, ones({4})); }, {"[linear]", "2 axes", "(4)"});
  check_error([&] { ops::linear(x, ones({4, 3}), ones({3})); }, {"[linear]", "the bias", "(4)", "(3)"});
  check_error([&] { ops::linear(x.to(DType::f16), ones({4, 3})); }, {"[linear]", "f16"});
  check_error([&] { ops::linear(ones({}), ones({4, 3})); }, {"[linear]", "at least 1 axis"});
}

}  // namespace crisol
