// The parameters of convolutions as products in tiles. Distances count elements.
#ifndef CRISOL_CONV_PARAMETERS_H
#define CRISOL_CONV_PARAMETERS_H
#include "common/parameters.h"
PARAMETERS_BEGIN

// The pixels of src that a product reads. The result has `pixels` pixels in an image, pixels_w in a row. Its pixel
// (oh, ow) reads, for tap (r, s), row oh * step_h + start_h + r * tap_h of a plane, and column ow * step_w + start_w + s *
// tap_w. `image` and `group` are distances in src.
typedef struct {
  Long image, group;
  Int height, width, taps_h, taps_w, pixels, pixels_w;
  Int step_h, step_w, start_h, start_w, tap_h, tap_w;
} PatchesParameters;
CHECK_PARAMETERS(PatchesParameters, 64);

// The table of a product's depth. `count` entries, of which `entries` are taps of `channel_vector` channels each. The
// last three are distances in src of channels, of rows of taps and of columns of taps.
typedef struct {
  Int count, entries, channel_vector, taps_h, taps_w, channel, row, column;
} TableParameters;
CHECK_PARAMETERS(TableParameters, 32);

// The packed weight of a product. It has `count` entries, and row_entries in each of the m rows of a group. The last five
// are distances in the weight.
typedef struct {
  Int count, m, entries, row_entries, channel_vector, taps_h, taps_w, group, line, channel, row, column;
} PackParameters;
CHECK_PARAMETERS(PackParameters, 48);

// The operands of a weight's gradient. x_step and dy_step are the distances of the images that follow the images of the
// table. `channel`, `row` and `column` are distances in x of channels, of rows of taps and of columns of taps.
typedef struct {
  Long x_group, dy_group, x_step, dy_step;
  Int taps_h, taps_w, channel, row, column, dy_channel, table_size, unused;
} PixelsParameters;
CHECK_PARAMETERS(PixelsParameters, 64);

PARAMETERS_END
#endif
