// Features of boxes: cl_kernels/vision/roi_align.cl.
#include <algorithm>
#include <limits>
#include <tuple>

#include "base/ceil_div.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/vision.h"
#include "dispatch/work_split.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/storage.h"
#include "tensor/kernel_args.h"
#include "vision/parameters.h"

namespace crisol::ops {

namespace {

/// The sizes of a call, and how its kernels are made and launched.
struct Alignment {
  Shape input;
  std::int64_t boxes;
  std::int64_t type;
  RoiAlignOptions options;
  runtime::DeviceState& device;
  dispatch::Target target = dispatch::target_of(device);

  /// The type in which kernels compute.
  DType real() const { return promote_types(static_cast<DType>(type), DType::f32); }
  Shape result() const { return {boxes, input[1], options.height, options.width}; }
  /// The most loop iterations that one bin takes.
  std::int64_t iterations() const {
    const auto samples = [&](std::int64_t size) {
      return options.sampling_ratio > 0 ? options.sampling_ratio : 2 * size + 8;
    };
    return samples(input[2]) * samples(input[3]) + 8;
  }

  runtime::KernelSpec spec(const char* entry) const {
    runtime::Defines defines{{"MAXIMUM", options.maximum ? 1 : 0}};
    define_elements(defines, type);
    define_real(defines, static_cast<DType>(type));
    return {"vision/roi_align.cl", entry, defines};
  }
  /// Makes the kernel, for an op that queues other work before it.
  void resolve(const char* entry) const {
    if (!runtime::in_dry_run()) static_cast<void>(runtime::resolve(device, spec(entry)));
  }

  template <class... Operands>
  void run(const char* entry, std::int64_t items, const std::tuple<Operands...>& operands, std::int64_t count,
           const auto&... more) const {
    using kernels::number;
    const kernels::RoiParameters sizes{.images = input[0],
                                       .channels = number(input[1]),
                                       .height = number(input[2]),
                                       .width = number(input[3]),
                                       .out_h = number(options.height),
                                       .out_w = number(options.width),
                                       .ratio = number(options.sampling_ratio),
                                       .aligned = options.aligned ? 1 : 0,
                                       .unused = 0};
    std::apply(
        [&](const auto&... operand) {
          runtime::launch(device, spec(entry), range_of(target, items), operand..., count, struct_arg(sizes),
                          real_arg(options.spatial_scale, real()), more...);
        },
        operands);
  }
};

Alignment alignment_of(const char* op, const Tensor& x, const Tensor& boxes, const Tensor& images,
                       const RoiAlignOptions& o) {
  require(x.defined() && boxes.defined() && images.defined(), op, "a tensor is undefined");
  require_floating(op, "the input", x);
  require_floating(op, "the boxes", boxes);
  require_dtype(op, "the images", images, DType::i64);
  require_device(op, "the input", x, "the boxes", boxes);
  require_device(op, "the input", x, "the images", images);
  require(x.dim() == 4, op, "the input must have 4 axes (N, C, H, W), its shape is ", x.shape());
  require(boxes.dim() == 2 && boxes.size(1) == 4, op, "the boxes have shape ", boxes.shape(), ", it must be (K, 4)");
  require_shape(op, "the images", images, {boxes.size(0)});
  constexpr std::int64_t most = 1 << 15;
  require(o.height > 0 && o.height < most && o.width > 0 && o.width < most, op, "a box has ", o.height, " x ", o.width,
          " bins, there must be from 1 to ", most - 1, " along each axis");
  require(o.sampling_ratio >= 0 && o.sampling_ratio < most, op, "sampling_ratio is ", o.sampling_ratio);
  require(o.spatial_scale > 0, op, "spatial_scale is ", o.spatial_scale, ", it must be positive");
  require(x.size(2) > 0 && x.size(3) > 0 && std::max({x.size(1), x.size(2), x.size(3)}) < INT32_MAX, op,
          "the input has shape ", x.shape(), ", which has no elements to read or too large an axis");
  return {x.shape(), boxes.size(0), storage_of(x), o, state_of(x)};
}

}  // namespace

Tensor roi_align(const Tensor& x, const Tensor& boxes, const Tensor& images, const RoiAlignOptions& options) {
  const Alignment a = alignment_of("roi_align", x, boxes, images, options);
  const Tensor y = empty(a.result(), x.dtype(), x.device());
  if (y.numel() == 0) return y;
  const Contiguous input(x), places(boxes, a.real()), owners(images);
  const dispatch::WorkSplit split = split_for(a.target, y.numel(), 64, 1, a.iterations());
  a.run("roi_align_forward", split.items, std::tuple(in(input), in(places), in(owners), out(y)), y.numel(),
        split.chunk);
  return y;
}

Tensor roi_align_backward(const Tensor& dy, const Tensor& x, const Tensor& boxes, const Tensor& images,
                          const RoiAlignOptions& options) {
  constexpr const char* op = "roi_align_backward";
  const Alignment a = alignment_of(op, x, boxes, images, options);
  require(dy.defined(), op, "the gradient is undefined");
  require_operand(op, "the input", x, "the gradient", dy, a.result(), x.dtype());
  if (x.numel() == 0 || dy.numel() == 0) return zeros(x.shape(), x.dtype(), x.device());
  const Contiguous gradient(dy), input(x), places(boxes, a.real()), owners(images);
  a.resolve(op);
  const Tensor dx = zeros(x.shape(), a.real(), x.device());
  const std::int64_t planes = x.size(0) * x.size(1), rows = a.target.takes_cpu_kernels() ? x.size(2) : 1;
  const std::int64_t of_box = a.iterations() * options.height * options.width;
  in_launches(a.target, a.boxes, of_box, [&](std::int64_t begin, std::int64_t end) {
    a.run(op, planes * ceil_div(x.size(2), rows), std::tuple(in(gradient), in(input), in(places), in(owners), out(dx)),
          planes, static_cast<std::int32_t>(rows), begin, end);
  });
  return cast(dx, x.dtype());
}

}  // namespace crisol::ops
