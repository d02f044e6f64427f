// Convolution of planes on CPUs (conv2d_planes.cl), for few channels or outputs in a group.
#include <algorithm>
#include <limits>

#include "base/ceil_div.h"
#include "conv/sizes.h"
#include "dispatch/device_defines.h"
#include "ops/conv/conv2d_variants.h"
#include "ops/storage.h"

namespace crisol::ops {

namespace {

using kernels::number;

constexpr std::int64_t wanted_slice = 1 << 16;  // In floats: a quarter of a usual L2 cache.
constexpr std::int64_t max_slice = std::int64_t{1} << 24;

// A convolution as the kernel computes it. Backward data is a convolution of dy with flipped kernels. With a stride,
// zeros are inserted between the elements of dy.
struct Planes {
  std::int64_t images, channels, height, width, outputs, out_h, out_w, groups;  // channels and outputs of a group
  kernels::ConvWindow window;
  std::int64_t output_step, channel_step, group_step, flipped, insert_h, insert_w;

  std::int64_t width_of_line(std::int64_t lanes) const {
    return window.stride_w * (ceil_div(out_w, lanes) * lanes +
                              (std::int64_t{window.taps_w} - 1) * window.dilation_w / window.stride_w + 1);
  }
  std::int64_t rows_of(std::int64_t band) const {
    return (band - 1) * window.stride_h + (std::int64_t{window.taps_h} - 1) * window.dilation_h + 1;
  }
  std::int64_t slice_of(std::int64_t band, std::int64_t lanes) const {
    return ceil_div(channels * rows_of(band) * width_of_line(lanes) + lanes, 16) * 16;
  }
  std::int64_t taps() const { return std::int64_t{window.taps_h} * window.taps_w; }
  kernels::ConvSizes sizes() const { return {images, channels, height, width, outputs, out_h, out_w, groups}; }
};

Planes forward_planes(const Conv2dSizes& s) {
  return {s.images,
          s.group_channels(),
          s.height,
          s.width,
          s.group_outputs(),
          s.out_h,
          s.out_w,
          s.groups,
          s.kernel_window(),
          s.depth(),
          s.taps(),
          s.group_outputs() * s.depth(),
          0,
          1,
          1};
}

Planes data_planes(const Conv2dSizes& s) {
  kernels::ConvWindow window = s.kernel_window();
  window.stride_h = window.stride_w = 1;
  window.pad_h = number(s.dilation_h * (s.kernel_h - 1) - s.pad_h);
  window.pad_w = number(s.dilation_w * (s.kernel_w - 1) - s.pad_w);
  return {s.images, s.group_outputs(), s.out_h,   s.out_w,  s.group_channels(), s.height,
          s.width,  s.groups,          window,    s.taps(), s.depth(),          s.group_outputs() * s.depth(),
          1,        s.stride_h,        s.stride_w};
}

// A plane is cut into bands of rows. A band has as many rows as fit into the cache, but not so many that items have no
// band, or that loops exceed the device's limit.
struct Bands {
  std::int64_t lanes, band, items;
};

Bands bands_of(const Planes& p, const Target& target) {
  Bands bands{};
  bands.lanes = target.cpu_vector_width();
  bands.band = ceil_div(p.out_h, PLANES_ROWS) * PLANES_ROWS;
  const std::int64_t wanted = std::max<std::int64_t>(8, 2 * std::int64_t{target.info.compute_units});
  const auto units = [&] { return p.images * p.groups * ceil_div(p.out_h, bands.band); };
  while (bands.band > PLANES_ROWS && (p.slice_of(bands.band, bands.lanes) > wanted_slice || units() < wanted))
    bands.band = ceil_div(bands.band / 2, PLANES_ROWS) * PLANES_ROWS;
  const std::int64_t vectors = ceil_div(p.out_w, bands.lanes);
  const std::int64_t copying =
      p.slice_of(bands.band, bands.lanes) / bands.lanes + p.channels * p.rows_of(bands.band) * (p.width + 1);
  const std::int64_t taps = p.channels * p.window.taps_h * (std::int64_t{p.window.taps_w} + 2);
  const std::int64_t iterations =
      copying + p.outputs * bands.band / PLANES_ROWS * vectors * (taps + PLANES_ROWS * (2 * bands.lanes + 4));
  const std::int64_t units_of_item = target.loop_budget / iterations;
  bands.items = units_of_item == 0 ? 0 : std::min(units(), std::max(wanted, ceil_div(units(), units_of_item)));
  return bands;
}

const char* check_planes(const Planes& p, const Target& target) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 8;
  if (p.window.taps_w > PLANES_MAX_TAPS) return "a kernel of more than 64 columns";
  if (p.window.pad_h < 0 || p.window.pad_w < 0) return "a padding larger than the kernel";
  if (p.height * p.width > most || p.out_h * p.out_w > most || p.insert_h * p.height > most)
    return "too large an image";
  if (p.slice_of(PLANES_ROWS, 16) > max_slice) return "too many channels or columns for the cache";
  if (bands_of(p, target).items == 0) return "too large for the device's loops";
  return nullptr;
}

runtime::Defines defines_of(const Conv2dProblem& p, const Target& target, std::int64_t lanes) {
  runtime::Defines defines{{"VW", lanes}};
  dispatch::define_math(defines, target.info);
  define_elements(defines, p.type);
  define_result_type(defines, p.type);
  return defines;
}

PlanOr plan_of(const Conv2dProblem& p, const Planes& s, const Target& target) {
  const auto [from, weight, to] = operands<3>();
  if (const char* reason = check_planes(s, target)) return reason;
  const Bands bands = bands_of(s, target);
  const std::int64_t slice = s.slice_of(bands.band, bands.lanes);
  const EpilogueArgs e = p.epilogue_args(weight);
  Plan plan;
  const Place scratch = plan.workspace(4 * static_cast<std::uint64_t>(bands.items * slice));
  plan.add(
      {"conv/cpu/conv2d_planes.cl", "conv2d_planes", defines_of(p, target, bands.lanes), epilogue_prelude(p.epilogue)},
      {{bands.items}, {1}}, from, weight, p.bias_or(weight), to, scratch, e, s.sizes(), s.window,
      kernels::PlanesParameters{s.output_step, s.channel_step, s.group_step, slice, number(s.flipped),
                                number(s.insert_h), number(s.insert_w), number(bands.band)},
      p.flags());
  return plan;
}

// The scratch of an item for the weight's gradient: a padded plane of x, a plane of dy, and a vector for each tap.
std::int64_t weight_slice(const Planes& p, std::int64_t lanes) {
  const std::int64_t rows = ceil_div(p.out_h, PLANES_ROWS) * PLANES_ROWS;
  const std::int64_t out_line = ceil_div(p.out_w, lanes) * lanes + 1;
  const std::int64_t taps = p.taps();
  return ceil_div(p.rows_of(rows) * p.width_of_line(lanes) + rows * out_line + (taps + 1) * lanes, 16) * 16;
}

// The number of work-items for the weight's gradient.
std::int64_t weight_items(const Planes& p, const Target& target) {
  const std::int64_t channels = p.groups * p.outputs;
  const bool bounded = target.loop_budget != std::numeric_limits<std::int64_t>::max();
  return bounded ? channels
                 : std::min(channels, std::max<std::int64_t>(8, 2 * std::int64_t{target.info.compute_units}));
}

// Whether the loops of a work-item that computes the weight's gradient are short enough for the device.
bool weight_fits_loops(const Planes& s, const Target& target) {
  const std::int64_t lanes = target.cpu_vector_width();
  const std::int64_t image =
      (s.height * s.width + s.out_h * s.out_w) + s.taps() * (s.out_h + 4) * (ceil_div(s.out_w, lanes) + 2);
  return s.images * image + weight_slice(s, lanes) <= target.loop_budget;
}

}  // namespace

PlanOr plan_planes(const Conv2dProblem& p, const Target& target, std::size_t) {
  const Planes s = forward_planes(p.sizes);
  if (s.outputs > (s.channels == 1 ? 4 : 2)) return "many outputs a group: a matrix product is faster";
  if (s.channels == 0) return "nothing to add up";
  return plan_of(p, s, target);
}

PlanOr plan_planes_data(const Conv2dProblem& p, const Target& target, std::size_t) {
  const Planes s = data_planes(p.sizes);
  if (s.outputs > (s.channels == 1 ? 4 : 2)) return "many outputs a group: a matrix product is faster";
  if (s.channels == 0) return "nothing to add up";
  if (s.channels > 1 && s.insert_h * s.insert_w > 1) return "a stride, whose zeros would be added up too";
  return plan_of(p, s, target);
}

PlanOr plan_planes_weight(const Conv2dProblem& p, const Target& target, std::size_t) {
  const auto [dy, x, dw] = operands<3>();
  const Planes s = forward_planes(p.sizes);
  if (s.channels != 1 || s.groups == 1) return "not depthwise";
  if (const char* reason = check_planes(s, target)) return reason;
  if (weight_slice(s, 16) > max_slice) return "too large an image";
  if (!weight_fits_loops(s, target)) return "too large for the device's loops";
  const std::int64_t lanes = target.cpu_vector_width(), slice = weight_slice(s, lanes);
  const std::int64_t items = weight_items(s, target);
  Plan plan;
  const Place scratch = plan.workspace(4 * static_cast<std::uint64_t>(items * slice));
  plan.add({"conv/cpu/conv2d_planes.cl", "conv2d_planes_weight", defines_of(p, target, lanes)}, {{items}, {1}}, x, dy,
           dw, scratch, s.sizes(), s.window, slice);
  return plan;
}

}  // namespace crisol::ops
