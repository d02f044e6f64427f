// Average pooling. The variants are "rows" (CPUs) and "pixel".
#include "crisol/ops/pool.h"
#include "dispatch/choose.h"
#include "dispatch/work_split.h"
#include "ops/check.h"
#include "ops/pool/pool_geometry.h"

namespace crisol::ops {

using namespace dispatch;

namespace {

struct AvgPoolProblem : PoolGeometry {
  std::int64_t include_pad;  ///< Whether the count of a window includes the padding.
  std::int64_t divisor;      ///< If not 0, the divisor instead of the count.

  // The most loop iterations that a row takes. Lanes may be loaded and stored one by one, and the last vector has up to
  // 16 lanes.
  std::int64_t iterations_of_row() const { return (out_w + 16) * (2 * window() + 4); }
  std::int64_t iterations_of_plane() const { return height * width + out_h * iterations_of_row(); }
};

/// The plan of a kernel whose work-items take some of `units` rows or planes.
PlanOr plan_rows(const AvgPoolProblem& p, const Target& target, const char* entry, std::int64_t units,
                 std::int64_t iterations) {
  if (const char* reason = target.against_iterations(iterations)) return reason;
  const auto [from, to] = operands<2>();
  Plan plan;
  plan.add({"pool/pool_avg_rows.cl", entry, {{"VW", target.cpu_vector_width()}}},
           persistent_range(target, units, iterations), from, to, p.planes, p.kernel_window(),
           static_cast<std::int32_t>(p.include_pad), static_cast<std::int32_t>(p.divisor));
  return plan;
}

/// The plan of a kernel with one work-item for each of `count` elements of the result.
PlanOr plan_pixel(const AvgPoolProblem& p, const Target& target, const char* entry, std::int64_t count) {
  const auto [from, to] = operands<2>();
  Plan plan;
  plan.add({"pool/pool_avg.cl", entry}, target.flat_range(count), from, to, count, p.kernel_window(),
           static_cast<std::int32_t>(p.include_pad), static_cast<std::int32_t>(p.divisor));
  return plan;
}

PlanOr plan_forward_rows(const AvgPoolProblem& p, const Target& target, std::size_t) {
  return plan_rows(p, target, "avg_pool_forward_rows", p.planes * p.out_h, p.iterations_of_row());
}
PlanOr plan_forward_pixel(const AvgPoolProblem& p, const Target& target, std::size_t) {
  return plan_pixel(p, target, "avg_pool_forward", p.outputs());
}
PlanOr plan_backward_rows(const AvgPoolProblem& p, const Target& target, std::size_t) {
  return plan_rows(p, target, "avg_pool_backward_planes", p.planes, p.iterations_of_plane());
}
PlanOr plan_backward_pixel(const AvgPoolProblem& p, const Target& target, std::size_t) {
  return plan_pixel(p, target, "avg_pool_backward", p.inputs());
}

constexpr Variant<AvgPoolProblem> avg_forward_variants[] = {{"rows", DeviceClass::cpu, plan_forward_rows},
                                                            {"pixel", DeviceClass::any, plan_forward_pixel}};
constexpr Variant<AvgPoolProblem> avg_backward_variants[] = {{"rows", DeviceClass::cpu, plan_backward_rows},
                                                             {"pixel", DeviceClass::any, plan_backward_pixel}};
const Table<AvgPoolProblem> avg_forward_table("avg_pool2d", avg_forward_variants);
const Table<AvgPoolProblem> avg_backward_table("avg_pool2d_backward", avg_backward_variants);

AvgPoolProblem problem_of(const char* op, const Shape& shape, const AvgPool2dOptions& options) {
  require(options.divisor >= 0, op, "the divisor is ", options.divisor, ", it must be positive, or 0 for the count");
  return {pool_geometry(op, shape, options.kernel, options.stride, options.padding, 1, options.ceil_mode),
          options.count_include_pad ? 1 : 0, options.divisor};
}

}  // namespace

Tensor avg_pool2d(const Tensor& x, const AvgPool2dOptions& options) {
  const char* const op = avg_forward_table.op;
  require_dtype(op, "the input", x, DType::f32);
  const AvgPoolProblem problem = problem_of(op, x.shape(), options);
  return pooled(avg_forward_table, problem, x, {x.size(0), x.size(1), problem.out_h, problem.out_w});
}

Tensor avg_pool2d_backward(const Tensor& dy, const Shape& input_shape, const AvgPool2dOptions& options) {
  const char* const op = avg_backward_table.op;
  const AvgPoolProblem problem = problem_of(op, input_shape, options);
  require_gradient(op, dy, {input_shape[0], input_shape[1], problem.out_h, problem.out_w}, input_shape);
  return pooled(avg_backward_table, problem, dy, input_shape);
}

}  // namespace crisol::ops
