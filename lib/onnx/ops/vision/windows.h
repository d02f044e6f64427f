// Windows over images and volumes as ONNX describes them: strides, dilations, padding at both ends of each axis, and
// auto_pad.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crisol/options/int_pair.h"
#include "crisol/options/int_triple.h"
#include "crisol/tensor.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

/// The attributes that Conv and the pools share. Axes are height and width, or depth, height and width; one axis
/// becomes a width of images of height 1.
struct Windows {
  std::vector<std::int64_t> kernel, strides, dilations, pads;
  std::string auto_pad;

  /// For inputs of one to `max_axes` spatial axes.
  explicit Windows(Call& call, int max_axes = 2);

  /// The same for an input of `axes` spatial axes: every list has that many entries, two for each axis in pads.
  Windows for_input(const Shape& input, const Shape& kernel_shape) const;
  /// For one axis: the windows of an input with a height of 1. More axes stay.
  Windows as_image() const;

  std::size_t axes() const { return kernel.size(); }
  /// Whether the windows move along depth, height and width.
  bool over_volumes() const { return axes() == 3; }
  bool is_symmetric() const;
  bool has_dilation() const;

  /// The first entries of a list, one for each axis, as an option of the library.
  static void set(int& option, const std::vector<std::int64_t>& list);
  static void set(IntPair& option, const std::vector<std::int64_t>& list);
  static void set(IntTriple& option, const std::vector<std::int64_t>& list);
};

/// The spatial part of an input (N, C, …), which has one axis to three.
Shape spatial_of(const Tensor& x);

/// A tensor (N, C, …) with other spatial axes.
Shape with_spatial(std::int64_t batch, std::int64_t channels, const Shape& spatial);

/// x with `value` around it, as pads says.
Tensor padded(const Tensor& x, const Windows& windows, double value);

}  // namespace crisol::onnx
