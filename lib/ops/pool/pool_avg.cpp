// Average pooling. The variants are "rows" (CPUs) and "pixel".
#include "crisol/ops/copy.h"
#include "crisol/ops/pool.h"
#include "dispatch/persistent.h"
#include "dispatch/variant.h"
#include "ops/check.h"
#include "ops/pool/pool_geometry.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

// Forward from x to y; backward from dy to dx.
struct Problem {
  const Tensor &from, &to;
  const PoolGeometry& geometry;
  std::int32_t include_pad, divisor;

  ProblemKey key() const { return geometry.key(); }
};

// The largest number of loop iterations. A lane may be loaded and stored alone, and the last vector has up to 16 lanes.
std::int64_t iterations_of_row(const Problem& p) { return (p.geometry.out_w + 16) * (2 * p.geometry.window() + 4); }
std::int64_t iterations_of_plane(const Problem& p) {
  return p.geometry.height * p.geometry.width + p.geometry.out_h * iterations_of_row(p);
}

const char* refuse(std::int64_t iterations, const DeviceInfo& info) {
  if (info.type != DeviceType::cpu) return "made for CPUs";
  return iterations <= loop_budget(info) ? nullptr : "the device does not run loops of that length";
}

const char* refuse_rows(const Problem& p, const DeviceInfo& info) { return refuse(iterations_of_row(p), info); }
const char* refuse_planes(const Problem& p, const DeviceInfo& info) { return refuse(iterations_of_plane(p), info); }

void run_rows(const Problem& p, std::string_view kernel, std::int64_t units, std::int64_t iterations) {
  runtime::DeviceState& device = state_of(p.from);
  runtime::launch(device, {"pool/pool_avg_rows.cl", kernel, {{"VW", cpu_vector_width(device)}}},
                  persistent_range(device, units, iterations), in(p.from), out(p.to), p.geometry.planes,
                  p.geometry.sizes, p.geometry.taps, p.include_pad, p.divisor);
}

void run_pixel(const Problem& p, std::string_view kernel) {
  runtime::DeviceState& device = state_of(p.from);
  const std::int64_t count = p.to.numel();
  runtime::launch(device, {"pool/pool_avg.cl", kernel}, runtime::flat_range(device, count), in(p.from), out(p.to),
                  count, p.geometry.sizes, p.geometry.taps, p.include_pad, p.divisor);
}

void forward_rows(const Problem& p) {
  run_rows(p, "avg_pool_forward_rows", p.geometry.planes * p.geometry.out_h, iterations_of_row(p));
}
void forward_pixel(const Problem& p) { run_pixel(p, "avg_pool_forward"); }
void backward_rows(const Problem& p) {
  run_rows(p, "avg_pool_backward_planes", p.geometry.planes, iterations_of_plane(p));
}
void backward_pixel(const Problem& p) { run_pixel(p, "avg_pool_backward"); }

constexpr Variant<Problem> forward_variants[] = {{"rows", refuse_rows, forward_rows},
                                                 {"pixel", accept_all, forward_pixel}};
constexpr Variant<Problem> backward_variants[] = {{"rows", refuse_planes, backward_rows},
                                                  {"pixel", accept_all, backward_pixel}};

PoolGeometry geometry_of(const char* op, const Shape& shape, const AvgPool2dOptions& options) {
  require(options.divisor >= 0, op, "the divisor is ", options.divisor, ", it must be positive, or 0 for the count");
  return pool_geometry(op, shape, options.kernel, options.stride, options.padding, 1, options.ceil_mode);
}

}  // namespace

Tensor avg_pool2d(const Tensor& x, const AvgPool2dOptions& options) {
  require_dtype("avg_pool2d", "the input", x, DType::f32);
  const PoolGeometry geometry = geometry_of("avg_pool2d", x.shape(), options);
  const Tensor input = contiguous(x);
  const Tensor y = empty({x.size(0), x.size(1), geometry.out_h, geometry.out_w}, DType::f32, x.device());
  const Problem problem{input, y, geometry, options.count_include_pad, options.divisor};
  choose("avg_pool2d", forward_variants, problem, x.device().info()).run(problem);
  return y;
}

Tensor avg_pool2d_backward(const Tensor& dy, const Shape& input_shape, const AvgPool2dOptions& options) {
  constexpr const char* op = "avg_pool2d_backward";
  const PoolGeometry geometry = geometry_of(op, input_shape, options);
  require_gradient(op, dy, {input_shape[0], input_shape[1], geometry.out_h, geometry.out_w}, input_shape);
  const Tensor gradient = contiguous(dy);
  const Tensor dx = empty(input_shape, DType::f32, dy.device());
  const Problem problem{gradient, dx, geometry, options.count_include_pad, options.divisor};
  choose(op, backward_variants, problem, dy.device().info()).run(problem);
  return dx;
}

}  // namespace crisol::ops
