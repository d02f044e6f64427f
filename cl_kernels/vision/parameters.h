// The parameters of the ops of images and volumes.
#ifndef CRISOL_VISION_PARAMETERS_H
#define CRISOL_VISION_PARAMETERS_H
#include "common/parameters.h"
PARAMETERS_BEGIN

// What grid_sample reads outside of the input.
enum Padding { PADDING_ZEROS, PADDING_BORDER, PADDING_REFLECTION };

// An input with `channels` channels of depth x height x width. grid_sample reads it at `points` places. `padding` is a
// Padding. align_corners and in_elements are 0 or 1 (GridSampleOptions).
typedef struct {
  Long points;
  Int channels, depth, height, width, padding, align_corners, in_elements, unused;
} GridParameters;
CHECK_PARAMETERS(GridParameters, 40);

// Images, each with `channels` channels of height x width, and boxes of out_h x out_w bins. A bin has `ratio` samples
// along each axis. With ratio 0 it has one sample for each element. `aligned` is 0 or 1 (RoiAlignOptions).
typedef struct {
  Long images;
  Int channels, height, width, out_h, out_w, ratio, aligned, unused;
} RoiParameters;
CHECK_PARAMETERS(RoiParameters, 40);

// Non-maximum suppression in `rows` rows (image, class) of `count` boxes each. At most `most` boxes of a row are
// selected. With `centered` 1, a box is (x, y, width, height) of its centre.
typedef struct {
  Long rows, count;
  Int classes, most, centered, unused;
} SuppressionParameters;
CHECK_PARAMETERS(SuppressionParameters, 32);

PARAMETERS_END
#endif
