// Pools, and other ops over windows of an image or of channels.
#include <cmath>
#include <limits>

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

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;

/// Runs a pool of images over images, or over rows. It gives the outputs of the node.
template <class Pool>
Run pool(Call& call, Pool pool_image, std::size_t outputs = 1) {
  call.check_counts(1, 1, outputs);
  const Windows given(call);
  require(!given.kernel.empty(), "onnx", "attribute kernel_shape is missing");
  call.gives_type_of(0, call.rank_of(0));
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

/// The library takes the same padding at both ends, and at most half of the kernel.
bool fits(const Windows& w) { return w.is_symmetric() && 2 * w.pads[0] <= w.kernel[0] && 2 * w.pads[1] <= w.kernel[1]; }

/// More padding at the ends of the axes: as many windows as ceil_mode makes, for those who round down.
Windows with_last_windows(Windows w, const Tensor& x) {
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t size = x.size(2 + static_cast<int>(i)), step = w.strides[i];
    const std::int64_t reach = (w.kernel[i] - 1) * w.dilations[i] + 1;
    const std::int64_t room = size + w.pads[i] + w.pads[2 + i] - reach;
    if (room < 0) continue;  // The pool refuses it.
    std::int64_t last = (room + step - 1) / step;
    if (last * step >= size + w.pads[i]) --last;  // A window that begins behind the image does not count.
    w.pads[2 + i] += last * step - room;
  }
  return w;
}

/// The sums of all windows of an image that has its padding already.
Tensor window_sums(const Tensor& x, const Windows& w) {
  if (w.dilations[0] == 1 && w.dilations[1] == 1)
    return avg_pool2d(x, {.kernel = Windows::pair(w.kernel), .stride = Windows::pair(w.strides), .divisor = 1});
  const Tensor planes = x.reshape({x.size(0) * x.size(1), 1, x.size(2), x.size(3)});
  const Tensor y = conv2d(planes, ones({1, 1, w.kernel[0], w.kernel[1]}, DType::f32, x.device()), Tensor(),
                          {.stride = Windows::pair(w.strides), .dilation = Windows::pair(w.dilations)});
  return y.reshape({x.size(0), x.size(1), y.size(2), y.size(3)});
}

/// Positions in padded images as positions in a whole tensor. With `by_columns` an image is stored column by column.
Tensor positions_in_tensor(const Tensor& positions, const Tensor& x, const Windows& w, bool by_columns) {
  const std::int64_t height = x.size(2), width = x.size(3), planes = x.size(0) * x.size(1);
  const auto line = [&](std::int64_t from, std::int64_t to) {
    return arange(static_cast<double>(from), static_cast<double>(to), 1, DType::i64, x.device());
  };
  const Tensor rows = line(-w.pads[0], height + w.pads[2]).unsqueeze(1), columns = line(-w.pads[1], width + w.pads[3]);
  const Tensor places = (by_columns ? rows + columns * height : rows * width + columns).reshape(-1);
  const Tensor in_image = index_select(places, 0, positions.reshape(-1)).reshape(positions.shape());
  return in_image + (line(0, planes) * (height * width)).reshape({x.size(0), x.size(1), 1, 1});
}

Run max_pool(Call& call) {
  const bool ceil_mode = call.integer("ceil_mode", 0) != 0, by_columns = call.integer("storage_order", 0) != 0;
  const bool has_positions = call.has_output(1);
  return pool(
      call,
      [=](const Tensor& given, const Windows& w) -> Tensors {
        const DType dtype = given.dtype();
        require(is_floating(dtype) || dtype == DType::u8, "onnx", "elements of ", dtype, " are not supported");
        const Tensor x = given.to(DType::f32);
        MaxPool2dOptions options{.kernel = Windows::pair(w.kernel),
                                 .stride = Windows::pair(w.strides),
                                 .dilation = Windows::pair(w.dilations)};
        const bool is_direct = fits(w);
        const Windows all = ceil_mode && !is_direct ? with_last_windows(w, x) : w;
        if (is_direct) {
          options.padding = Windows::pair(w.pads);
          options.ceil_mode = ceil_mode;
        }
        const Tensor image = is_direct ? x : padded(x, all, -std::numeric_limits<double>::infinity());
        if (!has_positions) return {max_pool2d(image, options).to(dtype)};
        const ExtremeResult y = max_pool2d_with_indices(image, options);
        Windows around = all;
        if (is_direct) around.pads = {0, 0, 0, 0};  // The library counts without its own padding.
        return {y.values.to(dtype), positions_in_tensor(y.indices, x, around, by_columns)};
      },
      2);
}

Run average_pool(Call& call) {
  const bool ceil_mode = call.integer("ceil_mode", 0) != 0;
  const bool counts_padding = call.integer("count_include_pad", 0) != 0;
  return in_f32(call, pool(call, [=](const Tensor& x, const Windows& w) -> Tensors {
                  if (fits(w) && w.dilations[0] == 1 && w.dilations[1] == 1)
                    return {avg_pool2d(x, {.kernel = Windows::pair(w.kernel),
                                           .stride = Windows::pair(w.strides),
                                           .padding = Windows::pair(w.pads),
                                           .ceil_mode = ceil_mode,
                                           .count_include_pad = counts_padding})};
                  // What ceil_mode adds behind the padding never counts.
                  const Windows all = ceil_mode ? with_last_windows(w, x) : w;
                  Windows behind = all;
                  for (std::size_t i = 0; i < 4; ++i)
                    behind.pads[i] = counts_padding ? all.pads[i] - w.pads[i] : all.pads[i];
                  const std::int64_t rows = counts_padding ? w.pads[0] + w.pads[2] : 0,
                                     columns = counts_padding ? w.pads[1] + w.pads[3] : 0;
                  const Tensor counted = ones({1, 1, x.size(2) + rows, x.size(3) + columns}, x.dtype(), x.device());
                  return {window_sums(padded(x, all, 0), all) / window_sums(padded(counted, behind, 0), all)};
                }));
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

Run global_average_pool(Call& call) {
  call.check_counts(1, 1);
  call.require_floating(0);
  call.require_rank(0, 3, Shape::max_rank);
  call.gives_type_of(0, call.rank_of(0));
  return [](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    return Data{x.mean(spatial_axes(x), true)};
  };
}

Run global_max_pool(Call& call) {
  call.check_counts(1, 1);
  call.require_rank(0, 3, Shape::max_rank);
  call.gives_type_of(0, call.rank_of(0));
  return [](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    return Data{x.max(spatial_axes(x), true)};
  };
}

Run global_lp_pool(Call& call) {
  call.check_counts(1, 1);
  const double p = call.version() < 2 ? call.real("p", 2) : static_cast<double>(call.integer("p", 2));
  require(p > 0, "onnx", "p is ", p);
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    return Data{x.norm(p, spatial_axes(x), true)};
  };
}

/// Puts the elements of X at their positions, as MaxPool gives them, among zeros.
Run max_unpool(Call& call) {
  call.check_counts(2, 3);
  const Windows given(call);
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

/// x / (bias + alpha / size · sum of squares over neighbouring channels)^beta
Run lrn(Call& call) {
  call.check_counts(1, 1);
  const double alpha = call.real("alpha", 1e-4f), beta = call.real("beta", 0.75), bias = call.real("bias", 1);
  const std::int64_t size = call.integer("size", 0);
  require(size > 0 && size < (1 << 30), "onnx", "size is ", size);
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    require(x.dim() >= 2, "onnx", "an input of shape ", x.shape(), ", (N, C, …) expected");
    const Tensor squares = x.square().reshape({x.size(0), 1, x.size(1), -1});
    const Tensor around = pad(squares, {{0, 0}, {(size - 1) / 2, size / 2}});
    const Tensor sums = avg_pool2d(around, {.kernel = {static_cast<int>(size), 1}, .stride = 1, .divisor = 1});
    return Data{x / (sums.reshape(x.shape()) * (alpha / static_cast<double>(size)) + bias).pow(beta)};
  };
}

}  // namespace

std::vector<Row> window_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"AveragePool", 1, newest, average_pool},
      {"GlobalAveragePool", 1, newest, global_average_pool},
      {"GlobalLpPool", 1, newest, global_lp_pool},
      {"GlobalMaxPool", 1, newest, global_max_pool},
      {"LRN", 1, newest, lrn},
      {"LpPool", 1, newest, lp_pool},
      {"MaxPool", 1, newest, max_pool},
      {"MaxUnpool", 9, newest, max_unpool},
  };
}

}  // namespace crisol::onnx
