// Windows over images as ONNX describes them: strides, dilations, padding at both ends of each axis, and auto_pad.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crisol/options/int_pair.h"
#include "crisol/tensor.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

/// The attributes that Conv and the pools share. Axes are height and width; one axis becomes a width of images of
/// height 1.
struct Windows {
  std::vector<std::int64_t> kernel, strides, dilations, pads;
  std::string auto_pad;

  explicit Windows(Call& call);

  /// The same for an input of `axes` spatial axes (1 or 2): every list has that many entries, two for each axis in
  /// pads.
  Windows for_input(const Shape& input, const Shape& kernel_shape) const;
  /// For one axis: the windows of an input with a height of 1.
  Windows as_image() const;
  bool is_symmetric() const { return pads[0] == pads[2] && pads[1] == pads[3]; }

  static IntPair pair(const std::vector<std::int64_t>& values, std::size_t first = 0);
};

/// The spatial part of an input (N, C, …), which has one axis or two.
Shape spatial_of(const Tensor& x);

/// x with `value` around it, as pads says.
Tensor padded(const Tensor& x, const Windows& windows, double value);

}  // namespace crisol::onnx
