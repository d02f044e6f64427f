// Products that end in an epilogue: every function and variant, compared with the plain result.
#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/interned_text.h"
#include "crisol/ops/matmul.h"
#include "doctest/doctest.h"
#include "ops/product/with_epilogue.h"
#include "reference/images/conv2d.h"
#include "reference/matmul.h"
#include "support/compare.h"
#include "support/coverage.h"
#include "support/skip.h"
#include "tensor/kernel_args.h"

namespace crisol {

namespace {

using ops::ProductEpilogue;
using Function = ops::EpilogueLayout::Function;
using testing::check_close;
using testing::Expected;
using testing::for_each_variant;
using testing::MustRun;
using testing::on_cpus;
using testing::random_values;
using testing::some;
using testing::tensor_of;
using testing::where;

// f(v) = s0 · v · e0 + e1.
constexpr const char* snippet =
    "#define EPILOGUE_OPERANDS 2\n"
    "#define EPILOGUE_SCALARS 1\n"
    "#define EPILOGUE(T, name) inline T name(const T v, const T e0, const T e1, const float8 s) "
    "{ return s.s0 * v * e0 + e1; }\n";

// A result of products with `rows` rows of `columns` elements (for a convolution: channels of pixels).
struct Result {
  Shape shape;
  std::vector<double> values;
  std::int64_t rows, columns, row_stride, product_stride;
};

std::int64_t row_of(const Result& y, std::int64_t at) { return at / y.columns % y.rows; }

// The values after the epilogue. `residual` is as large as the result, and `by_row` has one value per row.
std::vector<double> expected_of(const Result& y, Function function, const std::vector<double>& residual,
                                const std::vector<double>& by_row) {
  std::vector<double> expected = y.values;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    double& v = expected[i];
    if (function == Function::generic)
      v = 2 * v * by_row[static_cast<std::size_t>(row_of(y, static_cast<std::int64_t>(i)))] + residual[i];
    if (function == Function::add || function == Function::add_relu) v += residual[i];
    if (function == Function::relu || function == Function::add_relu) v = std::max(v, 0.0);
  }
  return expected;
}

constexpr std::array all_functions{Function::none, Function::relu, Function::add, Function::add_relu,
                                   Function::generic};

using Run = std::function<ops::ProductResult(const ProductEpilogue&)>;

/// Runs the functions by each variant. A product of copied windows is a part of a plan, and has no epilogue.
void check_forms(const MustRun& variants, const Result& y, double scale, const Run& run,
                 std::span<const Function> functions = all_functions) {
  const std::vector<double> residual = random_values(91, y.shape.numel()), by_row = random_values(92, y.rows);
  const Tensor as_large = tensor_of(residual, y.shape), a_row = tensor_of(by_row, {y.rows});
  const ops::EpilogueLayout::Operand result_operand{y.row_stride, 1, y.product_stride}, row_operand{1, 0, 0};
  for (const Function function : functions) {
    CAPTURE(static_cast<int>(function));
    ProductEpilogue f{.layout = {.function = function}, .operands = {as_large}};
    if (function == Function::add || function == Function::add_relu) f.layout.operand_count = 1;
    f.layout.operands[0] = result_operand;
    if (function == Function::generic) {
      f.layout.snippet = intern(snippet);
      f.layout.operands = {row_operand, result_operand};
      f.layout.operand_count = 2;
      f.operands = {a_row, as_large};
      f.scalars[0] = 2;
    }
    for_each_variant(variants, [&](std::string_view variant) {
      const auto [out, has_epilogue] = run(f);
      if (function != Function::none) CHECK(has_epilogue == (variant != "im2col_gemm"));
      check_close(out, y.shape, has_epilogue ? expected_of(y, function, residual, by_row) : y.values, {16, scale});
    });
  }
}

}  // namespace

TEST_CASE("matmul and linear end in every function of epilogue") {
  const struct { std::int64_t m, n, k; } sizes[] = {{5, 13, 7}, {50, 70, 9}, {3, 5, 1100}, {9, 60, 1030}};
  const MustRun without_block("matmul", {on_cpus("cpu_dot"), on_cpus("cpu_tiled"), "plain"});
  const MustRun variants("matmul",
                         {where(!testing::slow_device(), "block"), on_cpus("cpu_dot"), on_cpus("cpu_tiled"), "plain"});
  for (const auto& size : sizes) {
    const auto [m, n, k] = size;
    if (testing::slow_device() && m * n * k > 5000) continue;
    const std::vector<double> x = random_values(1, m * k), w = random_values(2, n * k), bias = random_values(3, n);
    const reference::Product product = reference::linear(x, {m, k}, w, {n, k}, bias);
    const Tensor a = tensor_of(x, {m, k}), weight = tensor_of(w, {n, k}), shift = tensor_of(bias, {n});
    // Each kind of size needs two programs of "block".
    check_forms(n < 60 ? without_block : variants, {{m, n}, product.values, m, n, n, 0}, static_cast<double>(k + 2),
                [&](const ProductEpilogue& f) { return ops::linear(a, weight, shift, f); });
  }
}

TEST_CASE("products of batches end in an epilogue") {
  const Shape left{3, 4, 6}, right{3, 6, 5};
  const std::vector<double> a = random_values(4, left.numel()), b = random_values(5, right.numel());
  const reference::Product each = reference::matmul(a, left, b, right);
  const reference::Product shared = reference::matmul(a, left, {b.begin(), b.begin() + 30}, {6, 5});
  const MustRun variants("matmul", {"block", on_cpus("cpu_tiled"), "plain"});
  const Tensor x = tensor_of(a, left), y = tensor_of(b, right);
  check_forms(variants, {each.shape, each.values, 4, 5, 5, 20}, 8,
              [&](const ProductEpilogue& f) { return ops::matmul(x, y, f); });
  if (testing::slow_device()) return;  // The rest uses the same kernels.
  check_forms(variants, {shared.shape, shared.values, 4, 5, 5, 20}, 8, [&](const ProductEpilogue& f) {
    return ops::matmul(x, y.narrow(0, 0, 1).reshape({6, 5}), f);
  });
}

TEST_CASE("conv2d ends in every function of epilogue") {
  const struct {
    Shape x, weight;
    Conv2dOptions options;
  } cases[] = {{{2, 3, 5, 7}, {4, 3, 3, 3}, {1, 1}},        {{2, 4, 6, 6}, {6, 2, 3, 3}, {2, 1, 1, 2}},
               {{3, 8, 28, 28}, {10, 8, 3, 3}, {1, 1}},     {{2, 70, 9, 9}, {5, 70, 3, 3}, {1, 1}},
               {{2, 20, 8, 8}, {24, 20, 1, 1}, {}},         {{2, 20, 13, 22}, {20, 20, 3, 3}, {1, 1}},
               {{2, 6, 9, 18}, {6, 1, 3, 3}, {1, 1, 1, 6}}, {{1, 5, 4, 5}, {19, 5, 3, 2}, {2, 1}}};
  const bool slow = testing::slow_device();
  const MustRun variants(
      "conv2d",
      {some(5, where(!slow, "depthwise")), some(1, where(!slow, "gemm")), some(20, where(!slow, "winograd_f4")),
       some(20, where(!slow, "winograd_f2")), some(5, on_cpus("planes")), some(2, on_cpus("few_pixels")),
       some(10, on_cpus("winograd", 100'000)), on_cpus("cpu_gemm"), "block", "im2col_gemm", "direct"});
  for (const auto& c : cases) {
    if (slow && c.x.numel() > 250) continue;
    CAPTURE(c.x);
    const std::vector<double> x = random_values(6, c.x.numel()), w = random_values(7, c.weight.numel());
    const std::vector<double> bias = random_values(8, c.weight[0]);
    const Shape shape = reference::conv2d_shape(c.x, c.weight, c.options);
    const std::vector<double> values = reference::conv2d(x, c.x, w, c.weight, bias, c.options);
    const std::int64_t pixels = shape[2] * shape[3];
    const double scale = static_cast<double>(c.weight.numel() / c.weight[0] + 2);
    check_forms(
        variants, {shape, values, shape[1], pixels, pixels, 0}, scale,
        [&](const ProductEpilogue& f) {
          return ops::conv2d(tensor_of(x, c.x), tensor_of(w, c.weight), tensor_of(bias, {shape[1]}), c.options, f);
        },
        slow ? std::span(all_functions).last(2) : all_functions);
  }
}

// Kernels for GPUs store one, two or four results at a time.
TEST_CASE("epilogue: the functions of vectors are there for every number of results that is stored at once") {
  constexpr const char* calls_tanh =
      "#include \"common/math/tanh.h\"\n"
      "#define EPILOGUE_OPERANDS 0\n"
      "#define EPILOGUE_SCALARS 0\n"
      "#define EPILOGUE(T, name) INLINE T name(const T v, const T e0, const T e1, const float8 s) "
      "{ return JOIN(tanh_, T)(v); }\n";
  for (const int at_once : {1, 2, 4}) {
    runtime::KernelSpec spec{"product/gpu/gemm_parts.cl", "gemm_parts", {{"VEC_C", at_once}}};
    spec.prelude = calls_tanh;
    CHECK_NOTHROW(runtime::resolve(state_of(zeros({1})), spec));
  }
}

}  // namespace crisol
