// The parameters of convolutions as products in tiles. Distances count elements.
#ifndef CRISOL_CONV_PARAMETERS_H
#define CRISOL_CONV_PARAMETERS_H
#include "common/parameters.h"
PARAMETERS_BEGIN

// The pixels of src that a product reads. The result has `pixels` pixels in an image, pixels_hw in a slice (all of them
// with two axes), and pixels_w in a row. `image` and `group` are distances in src.
typedef struct {
  Long image, group;
  Int pixels, pixels_hw, pixels_w, unused;
} PatchesParameters;
CHECK_PARAMETERS(PatchesParameters, 32);

// A channel of src is depth x height x width. Pixel (od, oh, ow) of the result reads, for tap (q, r, s), slice
// od * step_d + start_d + q * tap_d, row oh * step_h + start_h + r * tap_h and column ow * step_w + start_w + s * tap_w.
// With two axes, the kernels do not read the numbers of the depth.
typedef struct {
  Int depth, height, width, taps_d, taps_h, taps_w, step_d, step_h, step_w, start_d, start_h, start_w, tap_d, tap_h,
      tap_w, unused;
} WindowParameters;
CHECK_PARAMETERS(WindowParameters, 64);

// The table of a product's depth. `count` entries, of which `entries` are taps of `channel_vector` channels each. The
// last four are distances in src of channels, and of slices, rows and columns of taps.
typedef struct {
  Int count, entries, channel_vector, taps_d, taps_h, taps_w, channel, slice, row, column;
} TableParameters;
CHECK_PARAMETERS(TableParameters, 40);

// The packed weight of a product. It has `count` entries, and row_entries in each of the m rows of a group. The last
// six are distances in the weight.
typedef struct {
  Int count, m, entries, row_entries, channel_vector, taps_d, taps_h, taps_w, group, line, channel, slice, row, column;
} PackParameters;
CHECK_PARAMETERS(PackParameters, 56);

// The operands of a weight's gradient. x_step and dy_step are the distances of the images that follow the images of the
// table. `channel`, `slice`, `row` and `column` are distances in x: of channels, and of slices, rows and columns of
// taps.
typedef struct {
  Long x_group, dy_group;
  Int x_step, dy_step, taps_d, taps_h, taps_w, channel, slice, row, column, dy_channel, table_size, unused;
} PixelsParameters;
CHECK_PARAMETERS(PixelsParameters, 64);

PARAMETERS_END
#endif
