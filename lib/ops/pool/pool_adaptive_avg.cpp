// Adaptive average pooling. The variants are "planes" (CPUs) and "pixel". A pool to 1 x 1 is a reduction.
#include "crisol/ops/pool.h"
#include "crisol/ops/reduce.h"
#include "ops/check.h"
#include "ops/pool/pool_geometry.h"
#include "ops/pool/pool_wide.h"

namespace crisol::ops {

using namespace dispatch;

namespace {

struct AdaptivePoolProblem {
  std::int64_t planes, height, width, out_h, out_w;
  std::int64_t type = 0;  ///< The DType of the elements in memory.

  kernels::AdaptivePlane sizes() const {
    using kernels::number;
    return {number(height), number(width), number(out_h), number(out_w)};
  }
  ProblemKey key() const {
    const ProblemKey key{{"planes", planes}, {"h", height}, {"w", width}, {"out_h", out_h}, {"out_w", out_w}};
    return key.with_types(type);
  }
  // The most loop iterations that a plane takes.
  std::int64_t iterations() const {
    const std::int64_t windows = (height + out_h) * (width + out_w);  // The total size of all windows.
    return height * width + 2 * windows + 17 * out_h * out_w;
  }
};

// The size of the largest window: how many elements of shape `from` contribute to one element of shape `to`.
std::int64_t window_of(const Shape& from, const Shape& to) { return (from[2] / to[2] + 2) * (from[3] / to[3] + 2); }

AdaptivePoolProblem problem_of(const char* op, const Shape& input, const Shape& output) {
  require_images(op, input);
  require_images(op, output);
  require(
      input[0] == output[0] && input[1] == output[1] && input[2] > 0 && input[3] > 0 && output[2] > 0 && output[3] > 0,
      op, "no pooling of an input of shape ", input, " gives shape ", output, "; planes must have elements");
  return {input[0] * input[1], input[2], input[3], output[2], output[3]};
}

// Limits the window, because one work-item sums a whole window.
void require_short_window(const char* op, const Shape& from, const Shape& to, const Device& device) {
  require(window_of(from, to) <= traits_of(device.state()).loop_budget, op, device.name(),
          " does not run loops over windows as large as from shape ", from, " to ", to);
}

constexpr const char* planes_source = "pool/pool_adaptive_avg_planes.cl";

PlanOr plan_pixel(const AdaptivePoolProblem& p, const Target& target, const char* entry, std::int64_t count) {
  const auto [from, to] = operands<2>();
  return plan_pool_elements(target, "pool/pool_adaptive_avg.cl", entry, p.type, count, from, to, count, p.sizes());
}

PlanOr plan_forward_planes(const AdaptivePoolProblem& p, const Target& target, std::size_t) {
  const auto [x, y] = operands<2>();
  return plan_pool_units(target, planes_source, "adaptive_avg_pool_forward_planes", p.type, p.planes, p.iterations(), x,
                         y, p.planes, p.sizes());
}
PlanOr plan_forward_pixel(const AdaptivePoolProblem& p, const Target& target, std::size_t) {
  return plan_pixel(p, target, "adaptive_avg_pool_forward", p.planes * p.out_h * p.out_w);
}
PlanOr plan_backward_planes(const AdaptivePoolProblem& p, const Target& target, std::size_t) {
  const auto [dy, dx] = operands<2>();
  return plan_pool_sums(target, planes_source, "adaptive_avg_pool_backward_planes", p.type, p.planes,
                        p.height * p.width, p.iterations(), {dx}, dy, p.planes, p.sizes());
}
PlanOr plan_backward_pixel(const AdaptivePoolProblem& p, const Target& target, std::size_t) {
  return plan_pixel(p, target, "adaptive_avg_pool_backward", p.planes * p.height * p.width);
}

constexpr Variant<AdaptivePoolProblem> forward_variants[] = {{"planes", DeviceClass::cpu, plan_forward_planes},
                                                             {"pixel", DeviceClass::any, plan_forward_pixel}};
constexpr Variant<AdaptivePoolProblem> backward_variants[] = {{"planes", DeviceClass::cpu, plan_backward_planes},
                                                              {"pixel", DeviceClass::any, plan_backward_pixel}};
const Table<AdaptivePoolProblem> forward_table("adaptive_avg_pool2d", forward_variants);
const Table<AdaptivePoolProblem> backward_table("adaptive_avg_pool2d_backward", backward_variants);

Tensor adaptive_avg_pool2d(const Tensor& x, IntPair output, const Tensor* into) {
  const char* const op = forward_table.op;
  require_floating(op, "the input", x);
  require_images(op, x.shape());
  const Shape shape{x.size(0), x.size(1), output.h, output.w};
  const AdaptivePoolProblem problem = problem_of(op, x.shape(), shape);
  if (output == IntPair(1) && shape.numel() > 0) {
    // The window is the whole plane. A reduction shares the sum among work-items, and "pixel" leaves it to one.
    Result y(op, into, shape, x.dtype(), x.device(), {&x});
    mean_into(y.place(), x, {2, 3}, true);
    return y.done();
  }
  require_short_window(op, x.shape(), shape, x.device());
  if (!computes_in_f32(x.dtype()))
    return delivered(
        op, x, shape, [&] { return wide_adaptive_avg_pool2d(x, shape); }, into);
  return pooled(forward_table, problem, x, shape, into);
}

Tensor adaptive_avg_pool2d_backward(const Tensor& dy, const Shape& input_shape, const Tensor* into) {
  const char* const op = backward_table.op;
  require_floating(op, "the output's gradient", dy);
  const AdaptivePoolProblem problem = problem_of(op, input_shape, dy.shape());
  require_short_window(op, dy.shape(), input_shape, dy.device());
  if (!computes_in_f32(dy.dtype()))
    return delivered(
        op, dy, input_shape, [&] { return wide_adaptive_avg_pool2d_backward(dy, input_shape); }, into);
  return pooled(backward_table, problem, dy, input_shape, into);
}

}  // namespace

Tensor adaptive_avg_pool2d(const Tensor& x, IntPair output) { return adaptive_avg_pool2d(x, output, nullptr); }
void adaptive_avg_pool2d_into(const Tensor& y, const Tensor& x, IntPair output) { adaptive_avg_pool2d(x, output, &y); }

Tensor adaptive_avg_pool2d_backward(const Tensor& dy, const Shape& input_shape) {
  return adaptive_avg_pool2d_backward(dy, input_shape, nullptr);
}
void adaptive_avg_pool2d_backward_into(const Tensor& dx, const Tensor& dy, const Shape& input_shape) {
  adaptive_avg_pool2d_backward(dy, input_shape, &dx);
}

}  // namespace crisol::ops
