// Transposed convolution, sampling, and ops that rearrange images.
#include <algorithm>
#include <limits>

#include "base/text.h"
#include "crisol/functions/conv.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/pad.h"
#include "crisol/functions/vision.h"
#include "functions/by_channel.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/half.h"
#include "onnx/ops/table.h"
#include "onnx/ops/vision/windows.h"
#include "tensor/set_option.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Datum;
using graph::Run;

/// One axis of a transposed convolution. The whole result has `full` elements. The op keeps `size` elements, beginning
/// with `begin`.
struct KeptPart {
  std::int64_t full, begin, size;
};

template <class Options>
Options transposed_options(const Windows& w, int groups, const Numbers& padding, const Numbers& output_padding) {
  Options options{.groups = groups};
  set_option(options.stride, w.strides);
  set_option(options.dilation, w.dilations);
  set_option(options.padding, padding);
  set_option(options.output_padding, output_padding);
  return options;
}

/// A part of the transposed convolution of images or volumes. Elements outside of the whole result are 0.
Tensor conv_transposed(const Tensor& x, const Tensor& weight, const Tensor& bias, const Windows& w, int groups,
                       const std::vector<KeptPart>& parts) {
  const auto run = [&](const Tensor& shift, const Numbers& padding, const Numbers& more) {
    if (w.over_volumes())
      return conv_transpose3d(x, weight, shift, transposed_options<ConvTranspose3dOptions>(w, groups, padding, more));
    return conv_transpose2d(x, weight, shift, transposed_options<ConvTranspose2dOptions>(w, groups, padding, more));
  };
  Numbers begins, more;
  std::vector<AxisPadding> cuts;
  bool fits = true;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const KeptPart& part = parts[i];
    begins.push_back(part.begin);
    more.push_back(part.size - (part.full - 2 * part.begin));
    fits = fits && more[i] >= 0 && more[i] < w.strides[i];
    cuts.insert(cuts.begin(), {-part.begin, part.size - (part.full - part.begin)});
  }
  if (fits) return run(bias, begins, more);
  const Numbers none(parts.size(), 0);
  const Tensor y = pad(run(Tensor(), none, none), cuts);
  return bias.defined() ? y + by_channel(bias, y.dim()) : y;
}

std::int64_t full_size(const Windows& w, std::size_t axis, std::int64_t size) {
  return (size - 1) * w.strides[axis] + (w.kernel[axis] - 1) * w.dilations[axis] + 1;
}

/// The attributes of ConvTranspose about its result, except for the windows.
struct TransposedResult {
  std::string auto_pad;
  Numbers padding, shape;
  bool begins_with_more;  ///< Whether the beginning gets the odd element of a computed padding.

  KeptPart part(const Windows& w, std::size_t axis, std::int64_t size) const {
    const std::size_t axes = w.strides.size();
    KeptPart part{full_size(w, axis, size), w.pads[axis], 0};
    const std::int64_t more = padding.empty() ? 0 : padding[axis];
    const bool is_same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
    if (shape.empty() && !is_same) {
      part.size = part.full + more - w.pads[axis] - w.pads[axes + axis];
      return part;
    }
    part.size = shape.empty() ? size * w.strides[axis] : shape[axis];
    const std::int64_t total = std::max<std::int64_t>(part.full + more - part.size, 0);
    part.begin = begins_with_more ? total - total / 2 : total / 2;
    return part;
  }
};

Run conv_transpose(Call& call) {
  call.check_counts(2, 3);
  call.gives_type_of(0);
  Windows given(call, 3);
  TransposedResult result{given.auto_pad, call.integers("output_padding"), call.integers("output_shape"), false};
  for (const Numbers* list : {&result.padding, &result.shape})
    for (const std::int64_t value : *list)
      require(value >= 0 && value <= std::numeric_limits<int>::max(), "onnx", "output_padding or output_shape has ",
              value);
  // Before version 11, ONNX's text puts the odd element at the end, unless auto_pad says something else.
  result.begins_with_more = given.auto_pad == "SAME_LOWER" || (given.auto_pad != "SAME_UPPER" && call.version() >= 11);
  if (given.auto_pad == "VALID") given.pads.clear();
  given.auto_pad = "NOTSET";  // Windows would apply auto_pad by the rule for convolutions.
  const std::int64_t groups = call.integer("group", 1);
  require(groups >= 1 && groups <= std::numeric_limits<int>::max(), "onnx", "group is ", groups);
  return in_f32(call, [=](const Data& in, Device device) {
    Tensor x = in[0].tensor(device), weight = in[1].tensor(device);
    const Tensor bias = input_of(in, 2, device);
    const Shape spatial = spatial_of(x);
    Windows w = given.for_input(spatial, spatial_of(weight));
    const auto axes = static_cast<std::size_t>(spatial.rank());
    require((result.padding.empty() || result.padding.size() == axes) &&
                (result.shape.empty() || result.shape.size() == axes),
            "onnx", "output_padding or output_shape do not fit ", axes, " axes");
    std::vector<KeptPart> parts;
    if (axes == 1) {
      x = x.unsqueeze(2);
      weight = weight.unsqueeze(2);
      parts.push_back({1, 0, 1});
    }
    for (std::size_t i = 0; i < axes; ++i) parts.push_back(result.part(w, i, spatial[static_cast<int>(i)]));
    const Tensor y = conv_transposed(x, weight, bias, w.as_image(), static_cast<int>(groups), parts);
    return Data{axes == 1 ? y.squeeze(2) : y};
  });
}

Run deform_conv(Call& call) {
  call.check_counts(3, 5);
  call.gives_type_of(0);
  const Windows given(call);
  require(given.is_symmetric(), "onnx", "pads that differ at both ends are not supported");
  const std::int64_t groups = call.integer("group", 1), parts = call.integer("offset_group", 1);
  require(groups >= 1 && groups <= std::numeric_limits<int>::max(), "onnx", "group is ", groups);
  return in_f32(call, [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device), weight = in[1].tensor(device), offset = in[2].tensor(device);
    require(x.dim() == 4 && weight.dim() == 4 && offset.dim() == 4, "onnx", "an input of shape ", x.shape(),
            " is not supported: (N, C, H, W) is");
    const Windows w = given.for_input(spatial_of(x), spatial_of(weight));
    require(offset.size(1) == 2 * parts * w.kernel[0] * w.kernel[1], "onnx", "offset_group is ", parts,
            ", the offset has shape ", offset.shape());
    Conv2dOptions options{.groups = static_cast<int>(groups)};
    set_option(options.stride, w.strides);
    set_option(options.padding, w.pads);
    set_option(options.dilation, w.dilations);
    return Data{deform_conv2d(x, offset, weight, input_of(in, 3, device), input_of(in, 4, device), options)};
  });
}

/// A transposed convolution whose weight gives each element of a block its own channel.
Run col2im(Call& call) {
  call.check_counts(3, 3);
  call.gives_type_of(0);
  const Windows given(call, 3);
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    const Shape image(in[1].numbers());
    Windows w = given;
    w.kernel = in[2].numbers();
    require((image.rank() == 2 || image.rank() == 3) && w.axes() == static_cast<std::size_t>(image.rank()), "onnx",
            "an image of shape ", image, " and blocks of shape ", Shape(w.kernel),
            " are not supported: two or three axes are");
    for (const std::int64_t size : w.kernel) require(size > 0 && size < (1 << 15), "onnx", "a block has size ", size);
    const std::int64_t elements = Shape(w.kernel).numel();
    require(x.dim() == 3 && x.size(1) % elements == 0, "onnx", "an input of shape ", x.shape(), " has no blocks of ",
            Shape(w.kernel));
    w = w.for_input(image, {});
    Shape blocks;
    std::vector<KeptPart> parts;
    for (std::size_t i = 0; i < w.axes(); ++i) {
      const std::int64_t size = image[static_cast<int>(i)], around = w.pads[i] + w.pads[w.axes() + i];
      blocks.push_back((size + around - (w.kernel[i] - 1) * w.dilations[i] - 1) / w.strides[i] + 1);
      parts.push_back({full_size(w, i, blocks.back()), w.pads[i], size});
    }
    require(blocks.numel() == x.size(2), "onnx", "an image of shape ", image, " has ", blocks,
            " blocks, the input has ", x.size(2));
    const std::int64_t channels = x.size(1) / elements;
    const Tensor weight = eye(elements, {}, DType::f32, device).reshape(with_spatial(elements, 1, Shape(w.kernel)));
    const Tensor y =
        conv_transposed(x.reshape(with_spatial(x.size(0) * channels, elements, blocks)), weight, Tensor(), w, 1, parts);
    return Data{y.reshape(with_spatial(x.size(0), channels, image))};
  };
}

Run grid_sample_(Call& call) {
  call.check_counts(2, 2);
  for (const std::size_t i : {0, 1}) call.require_rank(i, 4, call.version() < 20 ? 4 : 5);
  const bool named_by_rank = call.version() < 20;
  const std::string mode = named_by_rank ? call.text_of("mode", {"bilinear", "nearest", "bicubic"})
                                         : call.text_of("mode", {"linear", "nearest", "cubic"});
  if (mode == "cubic")
    for (const std::size_t i : {0, 1}) call.require_rank(i, 4, 4);  // ONNX defines cubic only for images.
  call.gives_type_of(0, call.rank_of(0));
  const std::string outside = call.text_of("padding_mode", {"zeros", "border", "reflection"});
  const GridSampleOptions options{
      .mode = mode == "nearest"
                  ? GridSampleMode::nearest
                  : (mode == "cubic" || mode == "bicubic" ? GridSampleMode::bicubic : GridSampleMode::bilinear),
      .padding_mode = outside == "zeros"
                          ? GridSamplePadding::zeros
                          : (outside == "border" ? GridSamplePadding::border : GridSamplePadding::reflection),
      .align_corners = call.integer("align_corners", 0) != 0};
  return in_f32(call, [=](const Data& in, Device device) {
    return Data{grid_sample(in[0].tensor(device), in[1].tensor(device), options)};
  });
}

Run affine_grid_(Call& call) {
  call.check_counts(2, 2);
  call.gives_type_of(0);
  call.require_dtype(0, DType::f32);
  call.require_rank(0, 3, 3);
  if (const Datum size = call.stored(1); size.defined())
    require(size.shape() == Shape{4} || size.shape() == Shape{5}, "onnx", "size has shape ", size.shape(),
            ", 4 numbers (N, C, H, W) or 5 (N, C, D, H, W) expected");
  const bool align_corners = call.integer("align_corners", 0) != 0;
  return [=](const Data& in, Device device) {
    return Data{affine_grid(in[0].tensor(device), Shape(in[1].numbers()), align_corners)};
  };
}

std::int64_t block_size(Call& call) {
  const std::int64_t size = call.integer("blocksize", 0);
  require(size > 0 && size < (1 << 15), "onnx", "blocksize is ", size);
  return size;
}

/// Converts the order of channels. In mode DCR, the channels of a block's elements are far apart. In mode CRD (as in
/// pixel_shuffle), they are neighbours.
Tensor channels_in_order(const Tensor& x, std::int64_t block, bool to_near) {
  require(x.dim() == 4, "onnx", "an input of shape ", x.shape(), ", (N, C, H, W) expected");
  const std::int64_t squares = block * block, channels = x.size(1) / squares;
  require(x.size(1) % squares == 0, "onnx", x.size(1), " channels cannot be divided into blocks of ", squares);
  const Shape before = to_near ? Shape{x.size(0), squares, channels, x.size(2), x.size(3)}
                               : Shape{x.size(0), channels, squares, x.size(2), x.size(3)};
  return x.reshape(before).transpose(1, 2).reshape(x.shape());
}

Run depth_to_space(Call& call) {
  call.check_counts(1, 1);
  call.gives_type_of(0);
  const std::int64_t block = block_size(call);
  const bool is_near = call.version() >= 11 && call.text_of("mode", {"DCR", "CRD"}) == "CRD";
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    return Data{pixel_shuffle(is_near ? x : channels_in_order(x, block, true), block)};
  };
}

Run space_to_depth(Call& call) {
  call.check_counts(1, 1);
  call.gives_type_of(0);
  const std::int64_t block = block_size(call);
  const bool is_near = call.version() >= 28 && call.text_of("mode", {"DCR", "CRD"}) == "CRD";
  return [=](const Data& in, Device device) {
    const Tensor y = pixel_unshuffle(in[0].tensor(device), block);
    return Data{is_near ? y : channels_in_order(y, block, false)};
  };
}

Run center_crop_pad(Call& call) {
  call.check_counts(2, 2);
  call.gives_type_of(0);
  const bool has_axes = call.has("axes");
  const Numbers named = call.integers("axes");
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    const Numbers sizes = in[1].numbers();
    Numbers axes = named;
    for (int i = 0; !has_axes && i < x.dim(); ++i) axes.push_back(i);
    require(sizes.size() == axes.size(), "onnx", sizes.size(), " sizes for ", axes.size(), " axes");
    std::vector<AxisPadding> paddings(static_cast<std::size_t>(x.dim()));
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const int axis = axis_of(axes[i], x.dim());
      require(sizes[i] >= 0, "onnx", "size ", sizes[i], " for axis ", axis);
      const std::int64_t more = sizes[i] - x.size(axis), before = more / 2;
      paddings[static_cast<std::size_t>(x.dim() - 1 - axis)] = {before, more - before};
    }
    return Data{pad(x, paddings)};
  };
}

}  // namespace

std::vector<Row> vision_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"AffineGrid", 20, newest, affine_grid_}, {"CenterCropPad", 18, newest, center_crop_pad},
      {"Col2Im", 18, newest, col2im},           {"ConvTranspose", 1, newest, conv_transpose},
      {"DeformConv", 19, newest, deform_conv},  {"DepthToSpace", 1, newest, depth_to_space},
      {"GridSample", 16, newest, grid_sample_}, {"SpaceToDepth", 1, newest, space_to_depth},
  };
}

}  // namespace crisol::onnx
