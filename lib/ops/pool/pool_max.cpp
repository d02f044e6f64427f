// Max pooling. The variants are "rows" (CPUs) and "pixel".
#include "crisol/ops/pool.h"
#include "ops/check.h"
#include "ops/numbers.h"
#include "ops/pool/pool_geometry.h"
#include "ops/pool/pool_wide.h"

namespace crisol::ops {

using namespace dispatch;

namespace {

PlanOr plan_max_rows(const PoolGeometry& p, const Target& target) {
  const auto [x, values, indices] = operands<3>();
  return plan_pool_units(target, "pool/pool_max_rows.cl", "max_pool_forward_rows", p.types(), p.planes * p.out_h,
                         p.iterations_of_row(), x, values, indices, p.planes, p.kernel_window());
}
Plan plan_max_pixel(const PoolGeometry& p, const Target& target) {
  const auto [x, values, indices] = operands<3>();
  return plan_pool_elements(target, "pool/pool_max.cl", "max_pool_forward", p.types(), p.outputs(), x, values, indices,
                            p.outputs(), p.kernel_window());
}
PlanOr plan_max_backward_rows(const PoolGeometry& p, const Target& target) {
  const auto [dy, indices, dx] = operands<3>();
  const std::int64_t area = p.height * p.width, out_area = p.out_h * p.out_w;
  return plan_pool_sums(target, "pool/pool_max_rows.cl", "max_pool_backward_planes", p.types(), p.planes, area,
                        area + out_area, {dx}, dy, indices, p.planes, static_cast<std::int32_t>(area),
                        static_cast<std::int32_t>(out_area));
}
Plan plan_max_backward_pixel(const PoolGeometry& p, const Target& target) {
  const auto [dy, indices, dx] = operands<3>();
  return plan_pool_elements(target, "pool/pool_max.cl", "max_pool_backward", p.types(), p.inputs(), dy, indices, dx,
                            p.inputs(), p.kernel_window());
}

const Table<PoolGeometry> max_forward_table("max_pool2d", pool_variants<PoolGeometry, plan_max_rows, plan_max_pixel>);
const Table<PoolGeometry> max_backward_table(
    "max_pool2d_backward", pool_variants<PoolGeometry, plan_max_backward_rows, plan_max_backward_pixel>);

/// PoolGeometry::indices for a type of indices.
std::int64_t stored_indices(const char* op, DType type) {
  if (type == DType::i32) return 0;
  require(type == DType::u16, op, "indices are i32 or u16, not ", type);
  return static_cast<std::int64_t>(type);
}

PoolGeometry geometry_of(const char* op, const Shape& shape, const MaxPool2dOptions& options) {
  return pool_geometry(op, shape, options.kernel, options.stride, options.padding, options.dilation, options.ceil_mode);
}

MaxPool2dResult max_pool2d(const Tensor& x, const MaxPool2dOptions& options, DType type_of_indices,
                           const Tensor* values_into, const Tensor* indices_into) {
  const char* const op = max_forward_table.op;
  require_numbers(op, x.dtype());
  PoolGeometry geometry = geometry_of(op, x.shape(), options);
  geometry.type = storage_of(x);
  geometry.indices = stored_indices(op, type_of_indices);
  const std::int64_t plane = geometry.height * geometry.width;
  require(type_of_indices == DType::i32 || (plane <= 65536 && computes_in_f32(x.dtype())), op,
          "indices of u16 need f32, f16 or bf16 and images of up to 65536 elements, the input is ", x.dtype(),
          " of shape ", x.shape());
  const Shape shape{x.size(0), x.size(1), geometry.out_h, geometry.out_w};
  const Contiguous input(x);
  require_apart(op, values_into, indices_into);
  Result values(op, values_into, shape, x.dtype(), x.device(), {&x}),
      indices(op, indices_into, shape, type_of_indices, x.device(), {&x});
  if (!computes_in_f32(x.dtype())) {
    const MaxPool2dResult result = wide_max_pool2d(geometry, x);
    copy_into(values.place(), result.values);
    copy_into(indices.place(), result.indices);
    return {values.done(), indices.done()};
  }
  const PreparedPtr prepared = prepare(max_forward_table, geometry, state_of(x));
  launch(*prepared, {in(input), out(values), out(indices)});
  return {values.done(), indices.done()};
}

Tensor max_pool2d_backward(const Tensor& dy, const Tensor& indices, const Shape& input_shape,
                           const MaxPool2dOptions& options, const Tensor* into) {
  const char* const op = max_backward_table.op;
  PoolGeometry geometry = geometry_of(op, input_shape, options);
  geometry.type = storage_of(dy);
  const Shape shape{input_shape[0], input_shape[1], geometry.out_h, geometry.out_w};
  require_gradient(op, dy, shape, input_shape);
  geometry.indices = stored_indices(op, indices.dtype());
  require(indices.shape() == shape, op, "the indices have shape ", indices.shape(), ", they must have shape ", shape);
  require(indices.device() == dy.device(), op, "the gradient is on ", dy.device(), ", the indices are on ",
          indices.device());
  const Contiguous gradient(dy), positions(indices);
  Result dx(op, into, input_shape, dy.dtype(), dy.device(), {&dy, &indices});
  if (!computes_in_f32(dy.dtype())) {
    copy_into(dx.place(), wide_max_pool2d_backward(dy, cast(indices, DType::i32), input_shape));
    return dx.done();
  }
  const PreparedPtr prepared = prepare(max_backward_table, geometry, state_of(dy));
  launch(*prepared, {in(gradient), in(positions), out(dx)});
  return dx.done();
}

}  // namespace

MaxPool2dResult max_pool2d(const Tensor& x, const MaxPool2dOptions& options, DType indices) {
  return max_pool2d(x, options, indices, nullptr, nullptr);
}
void max_pool2d_into(const Tensor& values, const Tensor& indices, const Tensor& x, const MaxPool2dOptions& options) {
  const bool are_short = indices.defined() && indices.dtype() == DType::u16;
  max_pool2d(x, options, are_short ? DType::u16 : DType::i32, &values, &indices);
}

Tensor max_pool2d_backward(const Tensor& dy, const Tensor& indices, const Shape& input_shape,
                           const MaxPool2dOptions& options) {
  return max_pool2d_backward(dy, indices, input_shape, options, nullptr);
}
void max_pool2d_backward_into(const Tensor& dx, const Tensor& dy, const Tensor& indices, const Shape& input_shape,
                              const MaxPool2dOptions& options) {
  max_pool2d_backward(dy, indices, input_shape, options, &dx);
}

}  // namespace crisol::ops
