// Products with few columns on CPUs: the variant "cpu_narrow".
#include <algorithm>
#include <cmath>

#include "doctest/doctest.h"
#include "ops/product/gemm_operands.h"
#include "reference/compare.h"
#include "reference/matmul.h"
#include "support/coverage.h"

namespace crisol {

namespace {

std::vector<double> small_eighths(std::uint64_t seed, std::int64_t count) {
  std::vector<double> values = testing::random_integers(seed, count, -8, 8);
  for (double& value : values) value /= 8;
  return values;
}

}  // namespace

TEST_CASE("gemm: few columns with any depth, layout, type and epilogue") {
  if (!dispatch::target_of(state_of(zeros({1}))).takes_cpu_kernels()) return;
  const testing::MustRun variants("matmul", {testing::on_cpus("cpu_narrow")});
  const struct {
    std::int64_t m, n, k;
  } sizes[] = {{64, 1, 1}, {65, 2, 3}, {66, 3, 8}, {71, 4, 13}, {100, 8, 100}, {79, 5, 6}, {64, 3, 0}, {500, 7, 31}};
  for (const auto& size : sizes) {
    const auto [m, n, k] = size;
    const std::vector<double> a = small_eighths(1, m * k), b = small_eighths(2, k * n), old = small_eighths(3, m * n),
                              by_row = small_eighths(4, m), by_column = small_eighths(5, n);
    for (int form = 0; form < 12; ++form) {
      CAPTURE(m);
      CAPTURE(n);
      CAPTURE(k);
      CAPTURE(form);
      const DType type = form % 2 == 0 ? DType::f32 : DType::f16;
      const bool by_columns = form % 4 >= 2;  // B is stored column by column, and the result too.
      const Tensor left = testing::tensor_of(a, {m, k}, type), second = testing::tensor_of(b, {k, n}, type),
                   right = by_columns ? second.transpose(0, 1).contiguous().transpose(0, 1) : second,
                   shift = testing::tensor_of(form < 8 ? by_column : by_row, {form < 8 ? n : m}, type);
      const bool is_transposed = by_columns && form != 6 && form < 8;
      const Tensor first = testing::tensor_of(old, {m, n}, type),
                   y = is_transposed ? first.transpose(0, 1).contiguous().transpose(0, 1) : first.clone();
      std::vector<double> expected = reference::matmul(a, {m, k}, b, {k, n}).values;
      ops::Gemm product{.device = state_of(y),
                        .m = m,
                        .n = n,
                        .k = k,
                        .a = {in(left), k, 1, 0, type},
                        .b = {in(right), right.strides()[0], right.strides()[1], 0, type},
                        .c = {out(y), y.strides()[0], y.strides()[1], 0, type}};
      ops::ProductEpilogue f;
      f.layout.function = ops::EpilogueLayout::Function::add_relu;
      f.layout.operand_count = 1;
      f.layout.operands[0] = {n, 1};
      f.operands[0] = first;
      if (form >= 4) product.bias = in(shift), product.flags = form < 8 ? ops::bias_per_column : ops::bias_per_row;
      if (form == 4 || form == 5) product.flags |= ops::add_to_c;
      if (form >= 10) product.epilogue = &f;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const std::size_t row = i / static_cast<std::size_t>(n), column = i % static_cast<std::size_t>(n);
        if (form >= 4) expected[i] += form < 8 ? by_column[column] : by_row[row];
        if (form == 4 || form == 5) expected[i] += old[i];
        if (form >= 10) expected[i] = std::max(0.0, expected[i] + old[i]);
      }
      testing::for_each_variant(variants, [&] { ops::gemm(product); });
      testing::check_close(
          y, {m, n}, type == DType::f32 ? expected : reference::values_of(testing::tensor_of(expected, {m, n}, type)),
          {0});
    }
  }
  const ops::GemmProblem problem = testing::contiguous_problem(10000, 3, 100);
  CHECK(ops::choose_gemm(problem, dispatch::target_of(state_of(zeros({1})))).variant == "cpu_narrow");
}

}  // namespace crisol
