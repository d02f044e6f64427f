#include "ops/conv/conv2d_weight_product.h"

#include <algorithm>

#include "base/ceil_div.h"
#include "dispatch/persistent.h"
#include "ops/product/gemm_block.h"
#include "ops/product/gemm_epilogue.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

constexpr std::int64_t most_slice = 32;  // Of all kernels: the pixels that the table has at least.
constexpr std::int64_t most_index = std::int64_t{1} << 30;

std::int64_t table_images(const Conv2dSizes& s) { return ceil_div(most_slice, s.pixels()); }

std::int64_t table_size(const Conv2dSizes& s) { return table_images(s) * s.pixels(); }

// With those of a slice behind them.
std::int64_t table_pixels(const Conv2dSizes& s) { return table_size(s) + most_slice; }

std::int32_t number(std::int64_t value) { return static_cast<std::int32_t>(value); }

}  // namespace

const char* refuse_weight_product(const Conv2dSizes& s, const DeviceInfo& info) {
  if (s.images == 0) return "there are no images";
  const std::int64_t images = std::min(s.images, ceil_div(table_pixels(s), s.pixels()));  // Of the table.
  if (s.images * s.pixels() >= most_index || s.depth() >= most_index ||
      images * std::max(s.channels * s.height * s.width, s.outputs * s.pixels()) > most_index)
    return "too large for the kernel's indices";
  return s.images * s.pixels() / 4 > loop_budget(info) ? "too deep" : nullptr;
}

int most_weight_parts(const Conv2dSizes& s) {
  return most_block_parts(4 * s.weight_shape().numel(), 16 * table_pixels(s));
}

std::uint64_t weight_product_workspace(const Conv2dSizes& s, int parts) {
  const std::int64_t sums = parts > 1 ? parts * s.weight_shape().numel() : 0;
  return static_cast<std::uint64_t>(4 * sums + 16 * table_pixels(s));
}

void run_weight_product(const Conv2dProblem& p, const GatheredKernel& kernel) {
  const Conv2dSizes& s = p.sizes;
  const Conv2dOptions& o = s.options;
  runtime::DeviceState& device = p.device;
  const DeviceInfo& info = runtime::info_of(device);
  const TileCut& cut = kernel.cut;
  const std::int64_t m = s.group_outputs(), n = s.depth(), size = m * n, pixels = table_pixels(s);
  const int vectors = n % 4 == 0 ? 4 : 1;

  runtime::KernelSpec spec = kernel.spec;
  spec.defines.add({"VEC_C", std::min(kernel.run, vectors)});
  define_block(spec.defines, info);
  runtime::Kernel& multiply = runtime::resolve(device, spec);
  runtime::Kernel& tabulate = runtime::resolve(device, {"conv/conv2d_block_prepare.cl", "conv2d_block_pixels"});
  runtime::KernelSpec adding{"product/gemm_parts.cl", "gemm_parts", {{"VEC_C", vectors}}};
  define_block(adding.defines, info);
  runtime::Kernel* const add = cut.parts > 1 ? &runtime::resolve(device, adding) : nullptr;
  const runtime::BlockPtr table_block = runtime::allocate(device, 16 * static_cast<std::uint64_t>(pixels));
  const runtime::BlockPtr sums =
      cut.parts > 1 ? runtime::allocate(device, 4 * static_cast<std::uint64_t>(size * s.groups() * cut.parts))
                    : nullptr;

  const runtime::BufferView table{table_block.get(), 0}, dw = out(p.weight);
  const runtime::BufferView c = cut.parts > 1 ? runtime::BufferView{sums.get(), 0} : dw;
  const std::int64_t plane = s.height * s.width, x_image = s.channels * plane, y_image = s.outputs * s.pixels();
  runtime::launch(device, tabulate, runtime::flat_range(device, pixels), table, number(pixels),
                  Shape{s.height, s.width, s.kernel_h, s.kernel_w, s.pixels(), s.out_w, x_image, y_image},
                  Shape{o.stride.h, o.stride.w, -o.padding.h, -o.padding.w, o.dilation.h, o.dilation.w});
  const EpilogueArguments e = epilogue_arguments(nullptr, c);
  runtime::launch(
      device, multiply, {{cut.groups * cut.local[0], cut.local[1]}, {cut.local[0], cut.local[1]}}, in(p.y), in(p.x), c,
      table, e.first, e.second, e.strides, e.scalars[0], e.scalars[1], e.scalars[2], number(m), number(n),
      number(s.images * s.pixels()), number(table_size(s)),
      Shape{s.kernel_h, s.kernel_w, plane, o.dilation.h * s.width, o.dilation.w, s.pixels()},
      runtime::KernelArg(
          Shape{s.group_channels() * plane, m * s.pixels(), table_images(s) * x_image, table_images(s) * y_image}, 4),
      number(cut.part_depth), cut.parts);
  if (add == nullptr) return;
  runtime::launch(device, *add, runtime::flat_range(device, size * s.groups() / vectors), c, dw, dw, e.first, e.second,
                  e.strides, e.scalars[0], e.scalars[1], e.scalars[2], m, n, s.groups(), size, n, std::int64_t{1},
                  cut.parts, 0);
}

}  // namespace crisol::ops
