// Reading images and volumes at the places of a grid: cl_kernels/vision/grid_sample.cl.
#include <algorithm>
#include <limits>
#include <tuple>

#include "base/ceil_div.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/vision.h"
#include "dispatch/work_split.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/result.h"
#include "ops/storage.h"
#include "tensor/kernel_args.h"
#include "vision/parameters.h"

namespace crisol::ops {

namespace {

kernels::Padding padding_of(GridSamplePadding padding) {
  switch (padding) {
    case GridSamplePadding::zeros: return kernels::PADDING_ZEROS;
    case GridSamplePadding::border: return kernels::PADDING_BORDER;
    case GridSamplePadding::reflection: break;
  }
  return kernels::PADDING_REFLECTION;
}

/// The sizes of a call, and how its kernels are made and launched.
struct Sampling {
  int axes;  ///< 2 for images, 3 for volumes.
  std::int64_t images, channels, depth, height, width, points;
  std::int64_t type;  ///< The DType of the elements of x, y and dy in memory.
  GridSampleOptions options;
  runtime::DeviceState& device;
  dispatch::Target target = dispatch::target_of(device);

  std::int64_t taps() const {
    return options.mode == GridSampleMode::nearest ? 1 : (options.mode == GridSampleMode::bilinear ? 2 : 4);
  }
  /// Loop iterations for one place in one channel.
  std::int64_t iterations() const { return (axes == 3 ? taps() : 1) * taps() * (taps() + 2) + 4; }
  bool on_cpu() const { return target.takes_cpu_kernels(); }
  /// How `count` units are divided among work-items. A unit takes `work` iterations.
  dispatch::WorkSplit split(std::int64_t count, std::int64_t work) const {
    return split_for(target, count, std::max<std::int64_t>(1, 16384 / work), 1, work);
  }

  kernels::GridParameters parameters() const {
    return {.points = points,
            .channels = kernels::number(channels),
            .depth = kernels::number(depth),
            .height = kernels::number(height),
            .width = kernels::number(width),
            .padding = padding_of(options.padding_mode),
            .align_corners = options.align_corners ? 1 : 0,
            .in_elements = options.in_elements ? 1 : 0,
            .unused = 0};
  }

  runtime::KernelSpec spec(const char* entry) const {
    runtime::Defines defines{{"TAPS", taps()}, {"AXES", axes}};
    define_elements(defines, type);
    define_real(defines, static_cast<DType>(type));
    return {"vision/grid_sample.cl", entry, defines};
  }
  /// Makes the kernel, for an op that queues other work before it.
  void resolve(const char* entry) const {
    if (!runtime::in_dry_run()) static_cast<void>(runtime::resolve(device, spec(entry)));
  }

  template <class... Operands>
  void run(const char* entry, std::int64_t items, const std::tuple<Operands...>& operands, std::int64_t count,
           const auto&... more) const {
    const kernels::GridParameters sizes = parameters();
    std::apply(
        [&](const auto&... operand) {
          runtime::launch(device, spec(entry), range_of(target, items), operand..., count, struct_arg(sizes), more...);
        },
        operands);
  }
};

Sampling sampling_of(const char* op, const Shape& input, std::int64_t type, const Tensor& grid,
                     const GridSampleOptions& options) {
  require(input.rank() == 4 || input.rank() == 5, op,
          "the input must have 4 axes (N, C, H, W) or 5 axes (N, C, D, H, W), its shape is ", input);
  const int axes = input.rank() - 2;
  require(grid.defined(), op, "the grid is undefined");
  require_dtype(op, "the grid", grid, promote_types(static_cast<DType>(type), DType::f32));
  require(grid.dim() == axes + 2 && grid.size(0) == input[0] && grid.size(axes + 1) == axes, op, "the grid has shape ",
          grid.shape(), ", for an input of shape ", input, " it must be (", input[0],
          axes == 3 ? ", OD, OH, OW, 3)" : ", OH, OW, 2)");
  require(axes == 2 || options.mode != GridSampleMode::bicubic, op, "bicubic is defined for images (N, C, H, W) only, ",
          "the input has shape ", input);
  for (int axis = 2; axis < input.rank(); ++axis)
    require(input[axis] > 0, op, "the input has shape ", input, ", which has no elements to read");
  for (int axis = 1; axis < input.rank(); ++axis)
    require(input[axis] <= std::numeric_limits<std::int32_t>::max(), op, "the input has shape ", input,
            ", with too large an axis");
  const std::int64_t depth = axes == 3 ? input[2] : 1,
                     points = (axes == 3 ? grid.size(3) : 1) * grid.size(1) * grid.size(2);
  return {axes, input[0], input[1], depth, input[axes], input[axes + 1], points, type, options, state_of(grid)};
}

Shape shape_of_result(const Shape& input, const Tensor& grid) {
  Shape result = input;
  for (int axis = 2; axis < input.rank(); ++axis) result[axis] = grid.size(axis - 1);
  return result;
}

Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options, const Tensor* into) {
  constexpr const char* op = "grid_sample";
  require(x.defined(), op, "the input is undefined");
  require_floating(op, "the input", x);
  const Sampling s = sampling_of(op, x.shape(), storage_of(x), grid, options);
  require_device(op, "the input", x, "the grid", grid);
  Result y(op, into, shape_of_result(x.shape(), grid), x.dtype(), x.device(), {&x, &grid});
  if (y.place().numel() == 0) return y.done();
  const Contiguous image(x), places(grid);
  // A CPU computes the taps of a place once for many channels. A GPU has a work-item for each element.
  const std::int64_t block = s.on_cpu() ? std::min<std::int64_t>(s.channels, 64) : 1;
  const std::int64_t elements = s.images * ceil_div(s.channels, block) * s.points;
  const dispatch::WorkSplit split = s.split(elements, block * s.iterations());
  s.run("grid_sample_forward", split.items, std::tuple(in(image), in(places), out(y)), elements,
        static_cast<std::int32_t>(block), split.chunk);
  return y.done();
}

Tensor grid_sample_backward_grid(const Tensor& dy, const Tensor& x, const Tensor& grid,
                                 const GridSampleOptions& options, const Tensor* into) {
  constexpr const char* op = "grid_sample_backward_grid";
  require(x.defined() && dy.defined(), op, "a tensor is undefined");
  require_floating(op, "the input", x);
  const Sampling s = sampling_of(op, x.shape(), storage_of(x), grid, options);
  require_device(op, "the input", x, "the grid", grid);
  require_operand(op, "the grid", grid, "the gradient", dy, shape_of_result(x.shape(), grid), x.dtype());
  Result dgrid(op, into, grid.shape(), grid.dtype(), grid.device(), {&dy, &x, &grid});
  if (grid.numel() == 0) return dgrid.done();
  const Contiguous gradient(dy), image(x), places(grid);
  const std::int64_t count = s.images * s.points;
  const dispatch::WorkSplit split = s.split(count, std::max<std::int64_t>(s.channels, 1) * s.iterations());
  s.run("grid_sample_places", split.items, std::tuple(in(gradient), in(image), in(places), out(dgrid)), count,
        split.chunk);
  return dgrid.done();
}

}  // namespace

Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options) {
  return grid_sample(x, grid, options, nullptr);
}
void grid_sample_into(const Tensor& y, const Tensor& x, const Tensor& grid, const GridSampleOptions& options) {
  grid_sample(x, grid, options, &y);
}

Tensor grid_sample_backward(const Tensor& dy, const Tensor& grid, const Shape& input,
                            const GridSampleOptions& options) {
  constexpr const char* op = "grid_sample_backward";
  require(dy.defined(), op, "the gradient is undefined");
  require_floating(op, "the gradient", dy);
  const Sampling s = sampling_of(op, input, storage_of(dy), grid, options);
  require_operand(op, "the grid", grid, "the gradient", dy, shape_of_result(input, grid), dy.dtype());
  if (dy.numel() == 0) return zeros(input, dy.dtype(), dy.device());
  const Contiguous gradient(dy), places(grid);
  s.resolve(op);
  const Tensor dx = zeros(input, grid.dtype(), dy.device());
  const std::int64_t planes = s.images * s.channels, all_rows = s.depth * s.height, rows = s.on_cpu() ? all_rows : 1;
  in_launches(s.target, s.points, s.iterations(), [&](std::int64_t begin, std::int64_t end) {
    s.run(op, planes * ceil_div(all_rows, rows), std::tuple(in(gradient), in(places), out(dx)), planes, rows, begin,
          end);
  });
  return cast(dx, dy.dtype());
}

void grid_sample_backward_into(const Tensor& dx, const Tensor& dy, const Tensor& grid, const Shape& input,
                               const GridSampleOptions& options) {
  deliver("grid_sample_backward", {&dx}, {&dy, &grid},
          [&] { return std::array{grid_sample_backward(dy, grid, input, options)}; });
}

Tensor grid_sample_backward_grid(const Tensor& dy, const Tensor& x, const Tensor& grid,
                                 const GridSampleOptions& options) {
  return grid_sample_backward_grid(dy, x, grid, options, nullptr);
}
void grid_sample_backward_grid_into(const Tensor& dgrid, const Tensor& dy, const Tensor& x, const Tensor& grid,
                                    const GridSampleOptions& options) {
  grid_sample_backward_grid(dy, x, grid, options, &dgrid);
}

}  // namespace crisol::ops
