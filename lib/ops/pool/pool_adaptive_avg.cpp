// Adaptive average pooling. The variants are "planes" (CPUs) and "pixel".
#include <algorithm>

#include "crisol/ops/copy.h"
#include "crisol/ops/pool.h"
#include "dispatch/persistent.h"
#include "dispatch/variant.h"
#include "ops/check.h"
#include "ops/pool/pool_geometry.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

// The largest window: the number of elements of shape `from` that contribute to one element of shape `to`.
std::int64_t window_of(const Shape& from, const Shape& to) { return (from[2] / to[2] + 2) * (from[3] / to[3] + 2); }

void check_shapes(const char* op, const Shape& input, const Shape& output, const DeviceInfo& info) {
  require_images(op, input);
  require_images(op, output);
  require(
      input[0] == output[0] && input[1] == output[1] && input[2] > 0 && input[3] > 0 && output[2] > 0 && output[3] > 0,
      op, "no pooling of an input of shape ", input, " gives shape ", output, "; planes must have elements");
  // One work-item sums a whole window.
  require(std::max(window_of(input, output), window_of(output, input)) <= loop_budget(info), op, info.name,
          " does not run loops over windows as large as from shape ", input, " to ", output);
}

// Forward from x to y; backward from dy to dx.
struct Problem {
  const Tensor &from, &to;
  Shape sizes;  ///< Height, width, out_h, out_w.

  std::int64_t planes() const { return from.size(0) * from.size(1); }
  ProblemKey key() const {
    return {{"planes", planes()}, {"h", sizes[0]}, {"w", sizes[1]}, {"out_h", sizes[2]}, {"out_w", sizes[3]}};
  }
  // The largest number of loop iterations for a plane.
  std::int64_t iterations() const {
    const std::int64_t windows = (sizes[0] + sizes[2]) * (sizes[1] + sizes[3]);  // The total size of all windows.
    return sizes[0] * sizes[1] + 2 * windows + 17 * sizes[2] * sizes[3];
  }
};

const char* refuse_planes(const Problem& p, const DeviceInfo& info) {
  if (info.type != DeviceType::cpu) return "made for CPUs";
  return p.iterations() <= loop_budget(info) ? nullptr : "the device does not run loops of that length";
}

void run_planes(const Problem& p, const char* kernel) {
  runtime::DeviceState& device = state_of(p.from);
  runtime::launch(device, {"pool/pool_adaptive_avg_planes.cl", kernel, {{"VW", cpu_vector_width(device)}}},
                  persistent_range(device, p.planes(), p.iterations()), in(p.from), out(p.to), p.planes(), p.sizes);
}

void run_pixel(const Problem& p, const char* kernel) {
  runtime::DeviceState& device = state_of(p.from);
  runtime::launch(device, {"pool/pool_adaptive_avg.cl", kernel}, runtime::flat_range(device, p.to.numel()), in(p.from),
                  out(p.to), p.to.numel(), p.sizes);
}

void forward_planes(const Problem& p) { run_planes(p, "adaptive_avg_pool_forward_planes"); }
void forward_pixel(const Problem& p) { run_pixel(p, "adaptive_avg_pool_forward"); }
void backward_planes(const Problem& p) { run_planes(p, "adaptive_avg_pool_backward_planes"); }
void backward_pixel(const Problem& p) { run_pixel(p, "adaptive_avg_pool_backward"); }

constexpr Variant<Problem> forward_variants[] = {{"planes", refuse_planes, forward_planes},
                                                 {"pixel", accept_all, forward_pixel}};
constexpr Variant<Problem> backward_variants[] = {{"planes", refuse_planes, backward_planes},
                                                  {"pixel", accept_all, backward_pixel}};

}  // namespace

Tensor adaptive_avg_pool2d(const Tensor& x, IntPair output) {
  constexpr const char* op = "adaptive_avg_pool2d";
  require_dtype(op, "the input", x, DType::f32);
  require_images(op, x.shape());
  const Shape shape{x.size(0), x.size(1), output.h, output.w};
  check_shapes(op, x.shape(), shape, x.device().info());
  const Tensor input = contiguous(x);
  const Tensor y = empty(shape, DType::f32, x.device());
  const Problem problem{input, y, {x.size(2), x.size(3), output.h, output.w}};
  choose(op, forward_variants, problem, x.device().info()).run(problem);
  return y;
}

Tensor adaptive_avg_pool2d_backward(const Tensor& dy, const Shape& input_shape) {
  constexpr const char* op = "adaptive_avg_pool2d_backward";
  require_dtype(op, "the output's gradient", dy, DType::f32);
  check_shapes(op, input_shape, dy.shape(), dy.device().info());
  const Tensor gradient = contiguous(dy);
  const Tensor dx = empty(input_shape, DType::f32, dy.device());
  const Problem problem{gradient, dx, {input_shape[2], input_shape[3], dy.size(2), dy.size(3)}};
  choose(op, backward_variants, problem, dy.device().info()).run(problem);
  return dx;
}

}  // namespace crisol::ops
