// Max pooling. The variants are "rows" (CPUs) and "pixel".
#include "crisol/ops/copy.h"
#include "crisol/ops/pool.h"
#include "dispatch/persistent.h"
#include "dispatch/variant.h"
#include "ops/check.h"
#include "ops/pool/pool_geometry.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

struct Forward {
  const Tensor &x, &values, &indices;
  const PoolGeometry& geometry;

  ProblemKey key() const { return geometry.key(); }
};

struct Backward {
  const Tensor &dy, &indices, &dx;
  const PoolGeometry& geometry;

  ProblemKey key() const { return geometry.key(); }
};

// The largest number of loop iterations. A lane may be loaded and stored alone, and the last vector has up to 16 lanes.
std::int64_t iterations_of(const Forward& p) { return (p.geometry.out_w + 16) * (2 * p.geometry.window() + 4); }
std::int64_t iterations_of(const Backward& p) {
  return p.geometry.height * p.geometry.width + p.geometry.out_h * p.geometry.out_w;
}

template <class Problem>
const char* refuse_rows(const Problem& p, const DeviceInfo& info) {
  if (info.type != DeviceType::cpu) return "made for CPUs";
  return iterations_of(p) <= loop_budget(info) ? nullptr : "the device does not run loops of that length";
}

void forward_rows(const Forward& p) {
  runtime::DeviceState& device = state_of(p.x);
  runtime::launch(device, {"pool/pool_max_rows.cl", "max_pool_forward_rows", {{"VW", cpu_vector_width(device)}}},
                  persistent_range(device, p.geometry.planes * p.geometry.out_h, iterations_of(p)), in(p.x),
                  out(p.values), out(p.indices), p.geometry.planes, p.geometry.sizes, p.geometry.taps);
}

void forward_pixel(const Forward& p) {
  runtime::DeviceState& device = state_of(p.x);
  const std::int64_t count = p.geometry.outputs();
  runtime::launch(device, {"pool/pool_max.cl", "max_pool_forward"}, runtime::flat_range(device, count), in(p.x),
                  out(p.values), out(p.indices), count, p.geometry.sizes, p.geometry.taps);
}

void backward_rows(const Backward& p) {
  runtime::DeviceState& device = state_of(p.dy);
  const auto area = static_cast<std::int32_t>(p.geometry.height * p.geometry.width);
  const auto out_area = static_cast<std::int32_t>(p.geometry.out_h * p.geometry.out_w);
  runtime::launch(device, {"pool/pool_max_rows.cl", "max_pool_backward_planes", {{"VW", cpu_vector_width(device)}}},
                  persistent_range(device, p.geometry.planes, iterations_of(p)), in(p.dy), in(p.indices), out(p.dx),
                  p.geometry.planes, area, out_area);
}

void backward_pixel(const Backward& p) {
  runtime::DeviceState& device = state_of(p.dy);
  const std::int64_t count = p.geometry.inputs();
  runtime::launch(device, {"pool/pool_max.cl", "max_pool_backward"}, runtime::flat_range(device, count), in(p.dy),
                  in(p.indices), out(p.dx), count, p.geometry.sizes, p.geometry.taps);
}

constexpr Variant<Forward> forward_variants[] = {{"rows", refuse_rows, forward_rows},
                                                 {"pixel", accept_all, forward_pixel}};
constexpr Variant<Backward> backward_variants[] = {{"rows", refuse_rows, backward_rows},
                                                   {"pixel", accept_all, backward_pixel}};

PoolGeometry geometry_of(const char* op, const Shape& shape, const MaxPool2dOptions& options) {
  return pool_geometry(op, shape, options.kernel, options.stride, options.padding, options.dilation, options.ceil_mode);
}

}  // namespace

MaxPool2dResult max_pool2d(const Tensor& x, const MaxPool2dOptions& options) {
  require_dtype("max_pool2d", "the input", x, DType::f32);
  const PoolGeometry geometry = geometry_of("max_pool2d", x.shape(), options);
  const Shape shape{x.size(0), x.size(1), geometry.out_h, geometry.out_w};
  const Tensor input = contiguous(x);
  MaxPool2dResult result{empty(shape, DType::f32, x.device()), empty(shape, DType::i32, x.device())};
  const Forward problem{input, result.values, result.indices, geometry};
  choose("max_pool2d", forward_variants, problem, x.device().info()).run(problem);
  return result;
}

Tensor max_pool2d_backward(const Tensor& dy, const Tensor& indices, const Shape& input_shape,
                           const MaxPool2dOptions& options) {
  constexpr const char* op = "max_pool2d_backward";
  const PoolGeometry geometry = geometry_of(op, input_shape, options);
  const Shape shape{input_shape[0], input_shape[1], geometry.out_h, geometry.out_w};
  require_gradient(op, dy, shape, input_shape);
  require(indices.dtype() == DType::i32 && indices.shape() == shape, op, "the indices have dtype ", indices.dtype(),
          " and shape ", indices.shape(), ", they must be i32 of shape ", shape);
  require(indices.device() == dy.device(), op, "the gradient is on ", dy.device(), ", the indices are on ",
          indices.device());
  const Tensor gradient = contiguous(dy);
  const Tensor positions = contiguous(indices);
  const Tensor dx = empty(input_shape, DType::f32, dy.device());
  const Backward problem{gradient, positions, dx, geometry};
  choose(op, backward_variants, problem, dy.device().info()).run(problem);
  return dx;
}

}  // namespace crisol::ops
