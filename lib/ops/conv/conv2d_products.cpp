#include "ops/conv/conv2d_products.h"

#include <algorithm>

#include "ops/conv/conv2d_phase.h"
#include "ops/product/gemm_epilogue.h"
#include "runtime/moved.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

PhaseProduct phase_product(const Conv2dSizes& s, int first_h, int first_w) {
  const Conv2dOptions& o = s.options;
  const Phase h = phase_of(first_h, s.height, s.kernel_h, o.stride.h, o.padding.h, o.dilation.h);
  const Phase w = phase_of(first_w, s.width, s.kernel_w, o.stride.w, o.padding.w, o.dilation.w);
  const std::int64_t m = s.group_channels(), plane = s.height * s.width;
  return {{.groups = s.groups(),
           .m = m,
           .images = s.images,
           .rows = h.positions,
           .columns = w.positions,
           .channels = s.group_outputs(),
           .taps_h = h.taps,
           .taps_w = w.taps,
           .weight_strides = {s.group_outputs() * s.depth(), s.taps(), s.depth(), h.tap_step * s.kernel_w, w.tap_step},
           .height = s.out_h,
           .width = s.out_w,
           .src_image = s.outputs * s.pixels(),
           .src_group = s.group_outputs() * s.pixels(),
           .src_channel = s.pixels(),
           .step_h = 1,
           .step_w = 1,
           .start_h = h.start,
           .start_w = w.start,
           .tap_h = h.step,
           .tap_w = w.step,
           .c_image = s.channels * plane,
           .c_group = m * plane,
           .c_row = plane,
           .c_h = o.stride.h * s.width,
           .c_w = o.stride.w},
          h.first_tap * s.kernel_w + w.first_tap,
          first_h * s.width + first_w};
}

}  // namespace

GatheredProduct forward_product(const Conv2dSizes& s) {
  const Conv2dOptions& o = s.options;
  return {.groups = s.groups(),
          .m = s.group_outputs(),
          .images = s.images,
          .rows = s.out_h,
          .columns = s.out_w,
          .channels = s.group_channels(),
          .taps_h = static_cast<std::int32_t>(s.kernel_h),
          .taps_w = static_cast<std::int32_t>(s.kernel_w),
          .weight_strides = {s.group_outputs() * s.depth(), s.depth(), s.taps(), s.kernel_w, 1},
          .height = s.height,
          .width = s.width,
          .src_image = s.channels * s.height * s.width,
          .src_group = s.group_channels() * s.height * s.width,
          .src_channel = s.height * s.width,
          .step_h = o.stride.h,
          .step_w = o.stride.w,
          .start_h = -o.padding.h,
          .start_w = -o.padding.w,
          .tap_h = o.dilation.h,
          .tap_w = o.dilation.w,
          .c_image = s.outputs * s.pixels(),
          .c_group = s.group_outputs() * s.pixels(),
          .c_row = s.pixels(),
          .c_h = s.out_w,
          .c_w = 1};
}

std::vector<PhaseProduct> phase_products(const Conv2dSizes& s) {
  const Conv2dOptions& o = s.options;
  std::vector<PhaseProduct> phases;
  for (int h = 0; h < std::min<std::int64_t>(o.stride.h, s.height); ++h)
    for (int w = 0; w < std::min<std::int64_t>(o.stride.w, s.width); ++w) phases.push_back(phase_product(s, h, w));
  return phases;
}

const GatheredProduct& largest_phase(const std::vector<PhaseProduct>& phases) {
  const auto work = [](const PhaseProduct& a) { return a.product.n() * a.product.packed_depth(); };
  return std::max_element(phases.begin(), phases.end(),
                          [&](const PhaseProduct& a, const PhaseProduct& b) { return work(a) < work(b); })
      ->product;
}

const char* refuse_phases(const Conv2dSizes& s) {
  return std::int64_t{s.options.stride.h} * s.options.stride.w > 64 ? "a stride with more than 64 phases" : nullptr;
}

void run_forward_product(const Conv2dProblem& p, const KernelOf& kernel_of) {
  const GatheredProduct product = forward_product(p.sizes);
  const GatheredLaunch launch(p.device, product, kernel_of(product),
                              {.weight = in(p.weight),
                               .src = in(p.x),
                               .c = out(p.y),
                               .bias = in(p.bias.defined() ? p.bias : p.weight),
                               .weight_storage = p.weight.impl()->storage.get(),
                               .epilogue = p.epilogue,
                               .flags = p.bias.defined() ? bias_per_row : 0});
  launch.queue();
}

void run_phase_products(const Conv2dProblem& p, const std::vector<PhaseProduct>& phases, const KernelOf& kernel_of) {
  std::vector<GatheredLaunch> launches;
  for (const PhaseProduct& phase : phases) {
    const runtime::BufferView weight = moved(in(p.weight), phase.weight_first);
    launches.emplace_back(p.device, phase.product, kernel_of(phase.product),
                          GatheredOperands{.weight = weight,
                                           .src = in(p.y),
                                           .c = moved(out(p.x), phase.dx_first),
                                           .bias = weight,
                                           .weight_storage = p.weight.impl()->storage.get()});
  }
  for (const GatheredLaunch& launch : launches) launch.queue();
}

}  // namespace crisol::ops
