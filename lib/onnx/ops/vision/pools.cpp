// Pools, and other ops on windows of an image.
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/byte_dtype.h"
#include "base/text.h"
#include "crisol/functions/conv.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "crisol/functions/pad.h"
#include "crisol/functions/pool.h"
#include "crisol/functions/reduce.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/half.h"
#include "onnx/ops/table.h"
#include "onnx/ops/vision/windows.h"
#include "tensor/set_option.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;

/// A node with a pool of images, volumes or rows. `pool_image` computes the outputs, and gets rows as images.
template <class Pool>
Run pool(Call& call, Pool pool_image, std::size_t outputs = 1) {
  call.check_counts(1, 1, outputs);
  const Windows given(call, 3);
  require(!given.kernel.empty(), "onnx", "attribute kernel_shape is missing");
  call.gives_type_of(0, call.rank_of(0));
  call.gives(1, value_of(DType::i64, call.rank_of(0)));
  call.describe(given.attributes());
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    const bool one_axis = spatial_of(x).rank() == 1;
    const Windows w = given.for_input(spatial_of(x), {}).as_image();
    Data results;
    for (const Tensor& y : pool_image(one_axis ? x.unsqueeze(2) : x, w))
      results.emplace_back(one_axis ? y.squeeze(2) : y);
    return results;
  };
}

using Tensors = std::vector<Tensor>;

/// Whether the library's pools take the padding. It must be the same at both ends, and at most half of the kernel.
bool fits(const Windows& w) {
  bool is_small = true;
  for (std::size_t i = 0; i < w.axes(); ++i) is_small = is_small && 2 * w.pads[i] <= w.kernel[i];
  return is_small && w.is_symmetric();
}

/// The kernel and the stride as options of a pool.
template <class Options>
Options pool_options(const Windows& w) {
  Options options;
  set_option(options.kernel, w.kernel);
  set_option(options.stride, w.strides);
  return options;
}

/// The windows with more padding after the axes. With it, rounding down gives as many windows as ceil_mode.
Windows with_last_windows(Windows w, const Tensor& x) {
  for (std::size_t i = 0; i < w.axes(); ++i) {
    const std::int64_t size = x.size(2 + static_cast<int>(i)), step = w.strides[i];
    const std::int64_t reach = (w.kernel[i] - 1) * w.dilations[i] + 1;
    std::int64_t& end = w.pads[w.axes() + i];
    const std::int64_t room = size + w.pads[i] + end - reach;
    if (room < 0) continue;  // The pool will throw.
    std::int64_t last = (room + step - 1) / step;
    if (last * step >= size + w.pads[i]) --last;  // A window that begins after the image does not count.
    end += last * step - room;
  }
  return w;
}

/// The sums of all windows. The input already has its padding.
Tensor window_sums(const Tensor& x, const Windows& w) {
  const auto of_windows = [&]<class Options>(Options options) {
    options.divisor = 1;
    return options;
  };
  if (!w.has_dilation())
    return w.over_volumes() ? avg_pool3d(x, of_windows(pool_options<AvgPool3dOptions>(w)))
                            : avg_pool2d(x, of_windows(pool_options<AvgPool2dOptions>(w)));
  const Tensor planes = x.reshape(with_spatial(x.size(0) * x.size(1), 1, spatial_of(x)));
  const Tensor weight = ones(with_spatial(1, 1, Shape(w.kernel)), x.dtype(), x.device());
  const auto with_steps = [&]<class Options>(Options options) {
    set_option(options.stride, w.strides);
    set_option(options.dilation, w.dilations);
    return options;
  };
  const Tensor y = w.over_volumes() ? conv3d(planes, weight, Tensor(), with_steps(Conv3dOptions()))
                                    : conv2d(planes, weight, Tensor(), with_steps(Conv2dOptions()));
  return y.reshape(with_spatial(x.size(0), x.size(1), spatial_of(y)));
}

/// Converts positions in padded images to positions in the whole tensor. With `by_columns`, the first spatial axis
/// changes fastest.
Tensor positions_in_tensor(const Tensor& positions, const Tensor& x, const Windows& w, bool by_columns) {
  const Shape spatial = spatial_of(x);
  const auto line = [&](std::int64_t from, std::int64_t to) {
    return arange(static_cast<double>(from), static_cast<double>(to), 1, DType::i64, x.device());
  };
  Tensor places = zeros({}, DType::i64, x.device());
  std::int64_t distance = 1;
  for (std::size_t i = 0; i < w.axes(); ++i) {
    const std::size_t axis = by_columns ? i : w.axes() - 1 - i;
    const std::int64_t size = spatial[static_cast<int>(axis)];
    Shape along = Shape::filled(spatial.rank(), 1);
    along[static_cast<int>(axis)] = w.pads[axis] + size + w.pads[w.axes() + axis];
    places = places + (line(-w.pads[axis], size + w.pads[w.axes() + axis]) * distance).reshape(along);
    distance *= size;
  }
  const Tensor inside = index_select(places.reshape(-1), 0, positions.reshape(-1)).reshape(positions.shape());
  const Shape one = Shape::filled(spatial.rank(), 1);
  return inside + (line(0, x.size(0) * x.size(1)) * distance).reshape(with_spatial(x.size(0), x.size(1), one));
}

/// Calls max_pool2d or max_pool3d. Positions are undefined unless has_positions is set.
template <class Options>
ExtremeResult largest_of(const Tensor& x, const Windows& w, bool pads, bool ceil_mode, bool has_positions) {
  auto options = pool_options<Options>(w);
  set_option(options.dilation, w.dilations);
  if (pads) set_option(options.padding, w.pads);
  options.ceil_mode = ceil_mode;
  if constexpr (std::is_same_v<Options, MaxPool3dOptions>)
    return has_positions ? max_pool3d_with_indices(x, options) : ExtremeResult{max_pool3d(x, options), Tensor()};
  else
    return has_positions ? max_pool2d_with_indices(x, options) : ExtremeResult{max_pool2d(x, options), Tensor()};
}

Run max_pool(Call& call) {
  const bool ceil_mode = call.integer("ceil_mode", 0) != 0, by_columns = call.integer("storage_order", 0) != 0;
  const bool has_positions = call.has_output(1);
  return pool(
      call,
      [=](const Tensor& given, const Windows& w) -> Tensors {
        const DType dtype = given.dtype();
        require(is_floating(dtype) || is_of_bytes(dtype), "onnx", "elements of ", dtype, " are not supported");
        const Tensor x = widened(given);
        const bool is_direct = fits(w);
        Windows all = ceil_mode && !is_direct ? with_last_windows(w, x) : w;
        const Tensor input = is_direct ? x : padded(x, all, -std::numeric_limits<double>::infinity());
        const auto run = w.over_volumes() ? largest_of<MaxPool3dOptions> : largest_of<MaxPool2dOptions>;
        const ExtremeResult y = run(input, w, is_direct, ceil_mode && is_direct, has_positions);
        if (!has_positions) return {y.values.to(dtype)};
        if (is_direct) all.pads.assign(all.pads.size(), 0);  // The library's positions do not count its own padding.
        return {y.values.to(dtype), positions_in_tensor(y.indices, x, all, by_columns)};
      },
      2);
}

template <class Options>
Options average_options(const Windows& w, bool ceil_mode, bool counts_padding) {
  auto options = pool_options<Options>(w);
  set_option(options.padding, w.pads);
  options.ceil_mode = ceil_mode;
  options.count_include_pad = counts_padding;
  return options;
}

Run average_pool(Call& call) {
  const bool ceil_mode = call.integer("ceil_mode", 0) != 0;
  const bool counts_padding = call.integer("count_include_pad", 0) != 0;
  const Run run = pool(call, [=](const Tensor& x, const Windows& w) -> Tensors {
    if (fits(w) && !w.has_dilation())
      return {w.over_volumes() ? avg_pool3d(x, average_options<AvgPool3dOptions>(w, ceil_mode, counts_padding))
                               : avg_pool2d(x, average_options<AvgPool2dOptions>(w, ceil_mode, counts_padding))};
    // The elements that ceil_mode adds after the padding are never counted.
    const Windows all = ceil_mode ? with_last_windows(w, x) : w;
    Windows behind = all;
    Shape counted = with_spatial(1, 1, spatial_of(x));
    for (std::size_t i = 0; counts_padding && i < w.pads.size(); ++i) {
      behind.pads[i] -= w.pads[i];
      counted[2 + static_cast<int>(i % w.axes())] += w.pads[i];
    }
    const Tensor elements = padded(ones(counted, x.dtype(), x.device()), behind, 0);
    return {window_sums(padded(x, all, 0), all) / window_sums(elements, all)};
  });
  call.described().emplace("count_include_pad", counts_padding ? 1 : 0);
  return in_f32(call, run);
}

/// (sum of |x|^p)^(1/p) over each window.
Run lp_pool(Call& call) {
  const bool ceil_mode = call.integer("ceil_mode", 0) != 0;
  const double p = call.version() < 2 ? call.real("p", 2) : static_cast<double>(call.integer("p", 2));
  require(p > 0, "onnx", "p is ", p);
  return in_f32(call, pool(call, [=](const Tensor& x, const Windows& w) -> Tensors {
                  const Windows all = ceil_mode ? with_last_windows(w, x) : w;
                  const Tensor powers = p == 1 ? x.abs() : (p == 2 ? x.square() : x.abs().pow(p));
                  const Tensor sums = window_sums(padded(powers, all, 0), all);
                  return {p == 1 ? sums : (p == 2 ? sums.sqrt() : sums.pow(1 / p))};
                }));
}

/// All axes after the channels.
Shape spatial_axes(const Tensor& x) {
  require(x.dim() >= 3, "onnx", "an input of shape ", x.shape(), ", (N, C, …) expected");
  Shape axes;
  for (int i = 2; i < x.dim(); ++i) axes.push_back(i);
  return axes;
}

template <Tensor (Tensor::*f)(const Shape&, bool) const>
Run global_pool(Call& call) {
  call.check_counts(1, 1);
  call.require_rank(0, 3, Shape::max_rank);
  call.gives_type_of(0, call.rank_of(0));
  return [](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    return Data{(x.*f)(spatial_axes(x), true)};
  };
}

Run global_average_pool(Call& call) {
  call.require_floating(0);
  return global_pool<&Tensor::mean>(call);
}

Run global_lp_pool(Call& call) {
  call.check_counts(1, 1);
  call.gives_type_of(0);
  const double p = call.version() < 2 ? call.real("p", 2) : static_cast<double>(call.integer("p", 2));
  require(p > 0, "onnx", "p is ", p);
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    return Data{x.norm(p, spatial_axes(x), true)};
  };
}

/// Puts the elements of X at their positions, which MaxPool gave. All other elements are 0.
Run max_unpool(Call& call) {
  call.check_counts(2, 3);
  call.gives_type_of(0);
  const Windows given(call, 3);
  require(!given.kernel.empty(), "onnx", "attribute kernel_shape is missing");
  for (std::size_t i = 0; i < given.kernel.size(); ++i)
    require(i < given.strides.size() && given.kernel[i] <= given.strides[i], "onnx",
            "windows that overlap are not supported");
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device), positions = in[1].tensor(device);
    require(positions.shape() == x.shape(), "onnx", "indices of shape ", positions.shape(), " for an input of shape ",
            x.shape());
    const Shape spatial = spatial_of(x);
    const Windows w = given.for_input(spatial, {});
    Shape shape{x.size(0), x.size(1)};
    const auto axes = static_cast<std::size_t>(spatial.rank());
    for (std::size_t i = 0; i < axes; ++i)
      shape.push_back((spatial[static_cast<int>(i)] - 1) * w.strides[i] - w.pads[i] - w.pads[axes + i] + w.kernel[i]);
    const Tensor y =
        scatter_add(zeros({shape.numel()}, x.dtype(), device), 0, positions.reshape(-1).to(DType::i64), x.reshape(-1))
            .reshape(shape);
    if (!has_input(in, 2)) return Data{y};
    const Shape wanted(in[2].numbers());
    require(wanted.rank() == shape.rank() && wanted[0] == shape[0] && wanted[1] == shape[1], "onnx", "output_shape is ",
            wanted, " for an input of shape ", x.shape());
    std::vector<AxisPadding> more;
    for (int i = shape.rank() - 1; i >= 2; --i) more.push_back({0, wanted[i] - shape[i]});
    return Data{pad(y, more)};
  };
}

}  // namespace

std::vector<Row> window_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"AveragePool", 1, newest, average_pool},
      {"GlobalAveragePool", 1, newest, global_average_pool},
      {"GlobalLpPool", 1, newest, global_lp_pool},
      {"GlobalMaxPool", 1, newest, global_pool<&Tensor::max>},
      {"LpPool", 1, newest, lp_pool},
      {"MaxPool", 1, newest, max_pool},
      {"MaxUnpool", 9, newest, max_unpool},
  };
}

}  // namespace crisol::onnx
