// Options of pooling.
#pragma once

#include "crisol/options/int_pair.h"
#include "crisol/options/int_triple.h"

namespace crisol {

/// Options of max_pool2d: `max_pool2d(x, {3, 2, 1})` has a 3x3 kernel, stride 2 and padding 1.
struct MaxPool2dOptions {
  IntPair kernel = 0;      ///< Size of the window; positive.
  IntPair stride = 0;      ///< Distance between windows. 0 means the size of the kernel.
  IntPair padding = 0;     ///< Padding on each side, at most half of the kernel. It is never taken as the maximum.
  IntPair dilation = 1;    ///< Distance between the elements of a window; positive.
  bool ceil_mode = false;  ///< Rounds the output's size up, so that the last windows may extend beyond the input.
};

/// Options of avg_pool2d.
struct AvgPool2dOptions {
  IntPair kernel = 0;             ///< Size of the window; positive.
  IntPair stride = 0;             ///< Distance between windows. 0 means the size of the kernel.
  IntPair padding = 0;            ///< Zeros on each side, at most half of the kernel.
  bool ceil_mode = false;         ///< Rounds the output's size up: the last windows may extend beyond the input.
  bool count_include_pad = true;  ///< Counts the zeros of the padding as elements of the mean.
  int divisor = 0;                ///< If not 0, sums are divided by this number instead of the number of elements.
};

/// Options of max_pool3d, as in MaxPool2dOptions. A triple is (depth, height, width).
struct MaxPool3dOptions {
  IntTriple kernel = 0;    ///< Size of the window; positive.
  IntTriple stride = 0;    ///< Distance between windows. 0 means the size of the kernel.
  IntTriple padding = 0;   ///< Padding on each side, at most half of the kernel. It is never taken as the maximum.
  IntTriple dilation = 1;  ///< Distance between the elements of a window; positive.
  bool ceil_mode = false;  ///< Rounds the output's size up, so that the last windows may extend beyond the input.
};

/// Options of avg_pool3d, as in AvgPool2dOptions. A triple is (depth, height, width).
struct AvgPool3dOptions {
  IntTriple kernel = 0;           ///< Size of the window; positive.
  IntTriple stride = 0;           ///< Distance between windows. 0 means the size of the kernel.
  IntTriple padding = 0;          ///< Zeros on each side, at most half of the kernel.
  bool ceil_mode = false;         ///< Rounds the output's size up: the last windows may extend beyond the input.
  bool count_include_pad = true;  ///< Counts the zeros of the padding as elements of the mean.
  int divisor = 0;                ///< If not 0, sums are divided by this number instead of the number of elements.
};

}  // namespace crisol
