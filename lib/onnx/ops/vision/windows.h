// Windows on images and volumes, in ONNX's form: strides, dilations, padding at both ends of each axis, and
// auto_pad.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crisol/tensor.h"
#include "graph/ops/runs.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

/// The attributes that Conv and the pools have in common. The axes are height and width, or depth, height and width. A
/// single axis becomes the width of images with height 1.
struct Windows {
  std::vector<std::int64_t> kernel, strides, dilations, pads;
  std::string auto_pad;

  /// Reads the attributes of a node whose inputs have one to `max_axes` spatial axes.
  explicit Windows(Call& call, int max_axes = 2);

  /// The same windows for this input: every list has one entry for each spatial axis, and pads has two.
  Windows for_input(const Shape& input, const Shape& kernel_shape) const;
  /// Converts windows of one axis to windows of images with height 1. Windows of more axes do not change.
  Windows as_image() const;

  std::size_t axes() const { return kernel.size(); }
  /// Whether the windows move along depth, height and width.
  bool over_volumes() const { return axes() == 3; }
  /// The attributes of a node of a graph. Those that the file leaves out are missing.
  Attributes attributes() const;
  bool is_symmetric() const;
  bool has_dilation() const;
};

/// The spatial sizes of an input (N, C, …), which has one to three spatial axes.
Shape spatial_of(const Tensor& x);

/// The shape of a tensor (N, C, …) with these spatial sizes.
Shape with_spatial(std::int64_t batch, std::int64_t channels, const Shape& spatial);

/// Pads x with `value`, as the windows' pads say.
Tensor padded(const Tensor& x, const Windows& windows, double value);

}  // namespace crisol::onnx
