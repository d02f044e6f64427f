// Max pooling. The variants are "rows" (CPUs) and "pixel".
#include "crisol/ops/copy.h"
#include "crisol/ops/pool.h"
#include "dispatch/choose.h"
#include "dispatch/work_split.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/pool/pool_geometry.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

using namespace dispatch;

namespace {

PlanOr plan_forward_rows(const PoolGeometry& p, const Target& target, std::size_t) {
  // The most loop iterations that a row takes. Lanes may be loaded and stored one by one, and the last vector has up to
  // 16 lanes.
  const std::int64_t iterations = (p.out_w + 16) * (2 * p.window() + 4);
  if (const char* reason = target.against_iterations(iterations)) return reason;
  const auto [x, values, indices] = operands<3>();
  Plan plan;
  plan.add({"pool/pool_max_rows.cl", "max_pool_forward_rows", {{"VW", target.cpu_vector_width()}}},
           persistent_range(target, p.planes * p.out_h, iterations), x, values, indices, p.planes, p.kernel_window());
  return plan;
}

/// The plan of a kernel with one work-item for each of `count` elements of the result.
PlanOr plan_pixel(const PoolGeometry& p, const Target& target, const char* entry, std::int64_t count) {
  Plan plan;
  const auto [first, second, third] = operands<3>();
  plan.add({"pool/pool_max.cl", entry}, target.flat_range(count), first, second, third, count, p.kernel_window());
  return plan;
}

PlanOr plan_forward_pixel(const PoolGeometry& p, const Target& target, std::size_t) {
  return plan_pixel(p, target, "max_pool_forward", p.outputs());
}

PlanOr plan_backward_rows(const PoolGeometry& p, const Target& target, std::size_t) {
  const std::int64_t area = p.height * p.width, out_area = p.out_h * p.out_w, iterations = area + out_area;
  if (const char* reason = target.against_iterations(iterations)) return reason;
  const auto [dy, indices, dx] = operands<3>();
  Plan plan;
  plan.add({"pool/pool_max_rows.cl", "max_pool_backward_planes", {{"VW", target.cpu_vector_width()}}},
           persistent_range(target, p.planes, iterations), dy, indices, dx, p.planes, static_cast<std::int32_t>(area),
           static_cast<std::int32_t>(out_area));
  return plan;
}

PlanOr plan_backward_pixel(const PoolGeometry& p, const Target& target, std::size_t) {
  return plan_pixel(p, target, "max_pool_backward", p.inputs());
}

constexpr Variant<PoolGeometry> max_forward_variants[] = {{"rows", DeviceClass::cpu, plan_forward_rows},
                                                          {"pixel", DeviceClass::any, plan_forward_pixel}};
constexpr Variant<PoolGeometry> max_backward_variants[] = {{"rows", DeviceClass::cpu, plan_backward_rows},
                                                           {"pixel", DeviceClass::any, plan_backward_pixel}};
const Table<PoolGeometry> max_forward_table("max_pool2d", max_forward_variants);
const Table<PoolGeometry> max_backward_table("max_pool2d_backward", max_backward_variants);

PoolGeometry geometry_of(const char* op, const Shape& shape, const MaxPool2dOptions& options) {
  return pool_geometry(op, shape, options.kernel, options.stride, options.padding, options.dilation, options.ceil_mode);
}

}  // namespace

MaxPool2dResult max_pool2d(const Tensor& x, const MaxPool2dOptions& options) {
  const char* const op = max_forward_table.op;
  require_dtype(op, "the input", x, DType::f32);
  const PoolGeometry geometry = geometry_of(op, x.shape(), options);
  const Shape shape{x.size(0), x.size(1), geometry.out_h, geometry.out_w};
  const Contiguous input(x);
  MaxPool2dResult result{empty(shape, DType::f32, x.device()), empty(shape, DType::i32, x.device())};
  const PreparedPtr prepared = prepare(max_forward_table, geometry, state_of(x));
  launch(*prepared, {in(input), out(result.values), out(result.indices)});
  return result;
}

Tensor max_pool2d_backward(const Tensor& dy, const Tensor& indices, const Shape& input_shape,
                           const MaxPool2dOptions& options) {
  const char* const op = max_backward_table.op;
  const PoolGeometry geometry = geometry_of(op, input_shape, options);
  const Shape shape{input_shape[0], input_shape[1], geometry.out_h, geometry.out_w};
  require_gradient(op, dy, shape, input_shape);
  require(indices.dtype() == DType::i32 && indices.shape() == shape, op, "the indices have dtype ", indices.dtype(),
          " and shape ", indices.shape(), ", they must be i32 of shape ", shape);
  require(indices.device() == dy.device(), op, "the gradient is on ", dy.device(), ", the indices are on ",
          indices.device());
  const Contiguous gradient(dy), positions(indices);
  const Tensor dx = empty(input_shape, DType::f32, dy.device());
  const PreparedPtr prepared = prepare(max_backward_table, geometry, state_of(dy));
  launch(*prepared, {in(gradient), in(positions), out(dx)});
  return dx;
}

}  // namespace crisol::ops
