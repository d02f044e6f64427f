// Convolution as a GEMM over explicit patches, for devices whose fast GEMM takes plain matrices. The patches of as many
// images as fit into a bounded workspace are made at once.
#include <algorithm>

#include "crisol/ops/copy.h"
#include "crisol/ops/view.h"
#include "ops/conv/conv2d_problem.h"
#include "ops/product/gemm.h"
#include "runtime/memory_pool.h"
#include "runtime/moved.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

constexpr std::int64_t workspace_floats = std::int64_t{1} << 26;  // 256 MB, unless the limit is lower.
constexpr std::int64_t most_elements = std::int64_t{1} << 30;     // The kernels count them in 32 bits.

std::int64_t images_at_once(const Conv2dSizes& s) {
  const std::int64_t image = std::max({std::int64_t{1}, s.depth() * s.pixels(),
                                       s.group_channels() * s.height * s.width * workspace_floats / most_elements});
  const auto limit = static_cast<std::int64_t>(workspace_limit() / 4);
  const std::int64_t floats = limit == 0 ? workspace_floats : std::min(limit, workspace_floats);
  return std::clamp<std::int64_t>(floats / image, 1, std::max<std::int64_t>(1, s.images));
}

runtime::BlockPtr allocate_columns(runtime::DeviceState& device, const Conv2dSizes& s) {
  return runtime::allocate(device, 4 * static_cast<std::uint64_t>(images_at_once(s) * s.depth() * s.pixels()));
}

// im2col or col2im between images of one group of x and their matrices.
void launch_columns(const Conv2dProblem& p, const char* entry, std::int64_t count, runtime::BufferView from,
                    runtime::BufferView to, std::int64_t image_stride, std::int64_t row_stride) {
  const Conv2dSizes& s = p.sizes;
  const Conv2dOptions& o = s.options;
  runtime::DeviceState& device = p.device;
  runtime::launch(device, {"conv/im2col.cl", entry}, runtime::flat_range(device, count), from, to,
                  static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(s.group_channels()),
                  s.channels * s.height * s.width, image_stride, row_stride,
                  Shape{s.height, s.width, s.out_h, s.out_w, s.kernel_h, s.kernel_w},
                  Shape{o.stride.h, o.stride.w, o.padding.h, o.padding.w, o.dilation.h, o.dilation.w});
}

// Calls run(first image, images, group) for all pieces.
template <class Run>
void for_pieces(const Conv2dSizes& s, Run&& run) {
  const std::int64_t step = images_at_once(s);
  for (std::int64_t first = 0; first < s.images; first += step)
    for (std::int64_t group = 0; group < s.groups(); ++group) run(first, std::min(step, s.images - first), group);
}

}  // namespace

const char* refuse_conv2d_im2col(const Conv2dProblem& p, const DeviceInfo& info) {
  const Conv2dSizes& s = p.sizes;
  const Conv2dOptions& o = s.options;
  if (static_cast<std::uint64_t>(s.depth() * s.pixels()) > info.max_allocation / 4)
    return "the patches of one image are larger than the device's largest buffer";
  if (s.depth() == 0) return "there are no patches";
  const std::int64_t rows = s.height + 2 * std::int64_t{o.padding.h} + s.kernel_h * o.dilation.h;
  const std::int64_t columns = s.width + 2 * std::int64_t{o.padding.w} + s.kernel_w * o.dilation.w;
  if (std::max({s.depth() * s.pixels(), s.group_channels() * s.height * s.width, rows, columns}) > most_elements)
    return "one image is too large for the kernel's indices";
  return nullptr;
}

std::uint64_t im2col_workspace(const Conv2dProblem& p, const DeviceInfo&) {
  return 4 * static_cast<std::uint64_t>(images_at_once(p.sizes) * p.sizes.depth() * p.sizes.pixels());
}

void run_conv2d_im2col(const Conv2dProblem& p) {
  if (p.epilogue != nullptr) *p.applied = false;  // The product knows no images.
  const Conv2dSizes& s = p.sizes;
  runtime::DeviceState& device = p.device;
  const runtime::BlockPtr block = allocate_columns(device, s);
  const runtime::BufferView columns{block.get(), 0};
  const std::int64_t m = s.group_outputs(), n = s.pixels(), k = s.depth();
  for_pieces(s, [&](std::int64_t first, std::int64_t images, std::int64_t group) {
    const std::int64_t channel = first * s.channels + group * s.group_channels();
    launch_columns(p, "im2col", images * k * n, moved(in(p.x), channel * s.height * s.width), columns, k * n, n);
    Gemm product{device,
                 m,
                 n,
                 k,
                 images,
                 {moved(in(p.weight), group * m * k), k, 1},
                 {columns, n, 1, k * n},
                 {moved(out(p.y), (first * s.outputs + group * m) * n), n, 1, s.outputs * n}};
    if (p.bias.defined()) {
      product.flags = bias_per_row;
      product.bias = moved(in(p.bias), group * m);
    }
    gemm(product);
  });
}

void run_conv2d_data_im2col(const Conv2dProblem& p) {
  const Conv2dSizes& s = p.sizes;
  runtime::DeviceState& device = p.device;
  const runtime::BlockPtr block = allocate_columns(device, s);
  const runtime::BufferView columns{block.get(), 0};
  const std::int64_t m = s.depth(), n = s.pixels(), k = s.group_outputs();
  for_pieces(s, [&](std::int64_t first, std::int64_t images, std::int64_t group) {
    gemm({device,
          m,
          n,
          k,
          images,
          {moved(in(p.weight), group * k * m), 1, m},
          {moved(in(p.y), (first * s.outputs + group * k) * n), n, 1, s.outputs * n},
          {columns, n, 1, m * n}});
    const std::int64_t channel = first * s.channels + group * s.group_channels();
    launch_columns(p, "col2im", images * s.group_channels() * s.height * s.width, columns,
                   moved(out(p.x), channel * s.height * s.width), m * n, n);
  });
}

void run_conv2d_weight_im2col(const Conv2dProblem& p) {
  const Conv2dSizes& s = p.sizes;
  runtime::DeviceState& device = p.device;
  if (s.images == 0) {
    fill_into(p.weight, 0);
    return;
  }
  const runtime::BlockPtr block = allocate_columns(device, s);
  const runtime::BufferView columns{block.get(), 0};
  // One product over the pixels of all images of a piece: both matrices have them side by side.
  const Tensor by_output = contiguous(permute(p.y, {1, 0, 2, 3}));
  const std::int64_t m = s.group_outputs(), n = s.depth();
  for_pieces(s, [&](std::int64_t first, std::int64_t images, std::int64_t group) {
    const std::int64_t channel = first * s.channels + group * s.group_channels();
    const std::int64_t pixels = images * s.pixels();
    launch_columns(p, "im2col", n * pixels, moved(in(p.x), channel * s.height * s.width), columns, s.pixels(), pixels);
    Gemm product{device,
                 m,
                 n,
                 pixels,
                 1,
                 {moved(in(by_output), (group * m * s.images + first) * s.pixels()), s.images * s.pixels(), 1},
                 {columns, 1, pixels},
                 {moved(out(p.weight), group * m * n), n, 1}};
    if (first > 0) product.flags = add_to_c;
    gemm(product);
  });
}

}  // namespace crisol::ops
