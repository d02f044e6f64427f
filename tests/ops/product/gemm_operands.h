// A product with a bias, for tests of one kernel: values on the host, and row-major or column-major operands on the
// device.
#pragma once

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "crisol/ops/workspace.h"
#include "dispatch/target.h"
#include "doctest/doctest.h"
#include "ops/product/gpu/gemm_tiled.h"
#include "support/compare.h"
#include "support/skip.h"
#include "tensor/kernel_args.h"

namespace crisol::testing {

/// A is m x k and B is k x n, both row-major. The bias is added to each row.
struct GemmValues {
  std::int64_t m, n, k;
  std::vector<double> a = random_values(1, m*k), b = random_values(2, k*n), bias = random_values(3, n);
};

/// The same values on the device. A or B may be stored transposed, and the result starts as NaN.
class GemmTensors {
 public:
  GemmTensors(const GemmValues& v, bool a_transposed, bool b_transposed)
      : m_(v.m),
        n_(v.n),
        k_(v.k),
        a_transposed_(a_transposed),
        b_transposed_(b_transposed),
        a_(tensor_of(a_transposed ? transposed(v.a, v.m, v.k) : v.a, {v.m * v.k})),
        b_(tensor_of(b_transposed ? transposed(v.b, v.k, v.n) : v.b, {v.k * v.n})),
        bias_(tensor_of(v.bias, {v.n})),
        y_(full({v.m, v.n}, NAN)) {}

  const Tensor& y() const noexcept { return y_; }
  ops::Gemm product() const {
    return {.device = state_of(y_),
            .m = m_,
            .n = n_,
            .k = k_,
            .a = a_transposed_ ? ops::Matrix{in(a_), 1, m_} : ops::Matrix{in(a_), k_, 1},
            .b = b_transposed_ ? ops::Matrix{in(b_), 1, k_} : ops::Matrix{in(b_), n_, 1},
            .c = {out(y_), n_, 1},
            .flags = ops::bias_per_column,
            .bias = in(bias_)};
  }

 private:
  static std::vector<double> transposed(const std::vector<double>& values, std::int64_t rows, std::int64_t columns) {
    std::vector<double> result(values.size());
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        result[static_cast<std::size_t>(j * rows + i)] = values[static_cast<std::size_t>(i * columns + j)];
    return result;
  }

  std::int64_t m_, n_, k_;
  bool a_transposed_, b_transposed_;
  Tensor a_, b_, bias_, y_;
};

/// A target for a device that is not there.
inline dispatch::Target target_of(const DeviceInfo& info,
                                  dispatch::MatrixUnit::Kind kind = dispatch::MatrixUnit::Kind::none) {
  dispatch::Target target{info, 8, dispatch::gpu_traits(info).loop_budget, ops::workspace_limit()};
  target.units.fill({kind, false});
  return target;
}

/// A product of contiguous matrices.
inline ops::GemmProblem contiguous_problem(std::int64_t m, std::int64_t n, std::int64_t k,
                                           ops::ProductContext context = {}) {
  return {.m = m, .n = n, .k = k, .a = {k, 1}, .b = {n, 1}, .c = {n, 1}, .context = context};
}

inline ops::ProductContext context_of(Precision precision) { return {static_cast<std::int64_t>(precision)}; }

/// Why there is no plan, or an empty text.
inline std::string reason_of(const dispatch::PlanOr& plan) { return plan ? "" : plan.reason(); }

/// Runs a plan of a product.
inline void run_plan(dispatch::Plan plan, const ops::Gemm& product) {
  ops::launch_gemm(*dispatch::prepare(std::move(plan), product.device), product, product.b.first);
}

/// Runs a product on an engine, in one tile and with `split_k` parts of the depth.
inline void run_tiled(const ops::Gemm& product, const ops::Engine& engine, const ops::TileShape& tile, int split_k) {
  const dispatch::Target target = dispatch::target_of(product.device);
  const ops::PlacedGemm placed = ops::as_row_major(ops::problem_of(product));
  const ops::TilePlan cut = ops::cut_tiles(engine, tile, placed.extent(), split_k);
  CHECK(cut.split_k == split_k);
  dispatch::Plan plan;
  ops::add_tiled_product(plan, target, engine, cut, placed);
  run_plan(std::move(plan), product);
}

}  // namespace crisol::testing

/// Skips a test case of the choices that the library makes itself.
#define NEEDS_OWN_CHOICES() \
  if (std::getenv("CRISOL_VARIANT") != nullptr) CRISOL_SKIP("CRISOL_VARIANT decides")
