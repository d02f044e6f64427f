// Average pooling. The variants are "rows" (CPUs) and "pixel".
#include "crisol/ops/pool.h"
#include "ops/check.h"
#include "ops/numbers.h"
#include "ops/pool/pool_geometry.h"
#include "ops/pool/pool_wide.h"

namespace crisol::ops {

using namespace dispatch;

namespace {

struct AvgPoolProblem : PoolGeometry {
  std::int64_t include_pad;  ///< Whether the count of a window includes the padding.
  std::int64_t divisor;      ///< If not 0, the divisor instead of the count.

  std::int64_t iterations_of_plane() const { return height * width + out_h * iterations_of_row(); }
};

Plan plan_elements(const AvgPoolProblem& p, const Target& target, const char* entry, std::int64_t count) {
  const auto [from, to] = operands<2>();
  return plan_pool_elements(target, "pool/pool_avg.cl", entry, p.type, count, from, to, count, p.kernel_window(),
                            static_cast<std::int32_t>(p.include_pad), static_cast<std::int32_t>(p.divisor));
}

PlanOr plan_avg_rows(const AvgPoolProblem& p, const Target& target) {
  const auto [x, y] = operands<2>();
  return plan_pool_units(target, "pool/pool_avg_rows.cl", "avg_pool_forward_rows", p.type, p.planes * p.out_h,
                         p.iterations_of_row(), x, y, p.planes, p.kernel_window(),
                         static_cast<std::int32_t>(p.include_pad), static_cast<std::int32_t>(p.divisor));
}
Plan plan_avg_pixel(const AvgPoolProblem& p, const Target& target) {
  return plan_elements(p, target, "avg_pool_forward", p.outputs());
}
PlanOr plan_avg_backward_rows(const AvgPoolProblem& p, const Target& target) {
  const auto [dy, dx] = operands<2>();
  return plan_pool_sums(target, "pool/pool_avg_rows.cl", "avg_pool_backward_planes", p.type, p.planes,
                        p.height * p.width, p.iterations_of_plane(), {dx}, dy, p.planes, p.kernel_window(),
                        static_cast<std::int32_t>(p.include_pad), static_cast<std::int32_t>(p.divisor));
}
Plan plan_avg_backward_pixel(const AvgPoolProblem& p, const Target& target) {
  return plan_elements(p, target, "avg_pool_backward", p.inputs());
}

const Table<AvgPoolProblem> avg_forward_table("avg_pool2d",
                                              pool_variants<AvgPoolProblem, plan_avg_rows, plan_avg_pixel>);
const Table<AvgPoolProblem> avg_backward_table(
    "avg_pool2d_backward", pool_variants<AvgPoolProblem, plan_avg_backward_rows, plan_avg_backward_pixel>);

AvgPoolProblem problem_of(const char* op, const Shape& shape, const AvgPool2dOptions& options) {
  return {pool_geometry(op, shape, options.kernel, options.stride, options.padding, 1, options.ceil_mode),
          options.count_include_pad ? 1 : 0, options.divisor};
}

PoolDivisor divisor_of(const AvgPool2dOptions& options) { return {options.count_include_pad, options.divisor}; }

Tensor avg_pool2d(const Tensor& x, const AvgPool2dOptions& options, const Tensor* into) {
  const char* const op = avg_forward_table.op;
  require_numbers(op, x.dtype());
  const AvgPoolProblem problem = problem_of(op, x.shape(), options);
  const Shape shape{x.size(0), x.size(1), problem.out_h, problem.out_w};
  if (!computes_in_f32(x.dtype()))
    return delivered(
        op, x, shape, [&] { return wide_avg_pool2d(problem, x, divisor_of(options)); }, into);
  return pooled(avg_forward_table, problem, x, shape, into);
}

Tensor avg_pool2d_backward(const Tensor& dy, const Shape& input_shape, const AvgPool2dOptions& options,
                           const Tensor* into) {
  const char* const op = avg_backward_table.op;
  const AvgPoolProblem problem = problem_of(op, input_shape, options);
  require_gradient(op, dy, {input_shape[0], input_shape[1], problem.out_h, problem.out_w}, input_shape);
  if (!computes_in_f32(dy.dtype()))
    return delivered(
        op, dy, input_shape, [&] { return wide_avg_pool2d_backward(problem, dy, input_shape, divisor_of(options)); },
        into);
  return pooled(avg_backward_table, problem, dy, input_shape, into);
}

}  // namespace

Tensor avg_pool2d(const Tensor& x, const AvgPool2dOptions& options) { return avg_pool2d(x, options, nullptr); }
void avg_pool2d_into(const Tensor& y, const Tensor& x, const AvgPool2dOptions& options) { avg_pool2d(x, options, &y); }

Tensor avg_pool2d_backward(const Tensor& dy, const Shape& input_shape, const AvgPool2dOptions& options) {
  return avg_pool2d_backward(dy, input_shape, options, nullptr);
}
void avg_pool2d_backward_into(const Tensor& dx, const Tensor& dy, const Shape& input_shape,
                              const AvgPool2dOptions& options) {
  avg_pool2d_backward(dy, input_shape, options, &dx);
}

}  // namespace crisol::ops
