// The virtual im2col matrix of a batch of images, copied block by block.
//
// Row k = (channel, tap), tap = (r, s); column j = (image, oh, ow). The element is
//
//   src[image * g.image + channel * g.plane + h * g.width + w],  h = oh * g.step_h + g.start_h + r * g.tap_h
//                                                                w = ow * g.step_w + g.start_w + s * g.tap_w
//
// and 0 where (h, w) lies outside the plane. A convolution reads its input with step = stride, start = -padding,
// tap = dilation; its backward data reads the gradient with negative taps. Where step_w is 1, neighbouring columns are
// neighbours in memory but for the ends of rows and images, so a vector of columns is one load, or two around one
// such end, under a mask that depends on the tap alone.
#include "common/vector.h"

typedef struct {
  int height, width;     // of a source plane
  int taps, taps_w;      // R * S, S
  int step_h, step_w, start_h, start_w, tap_h, tap_w;
  int pixels, pixels_w;  // columns of one image: OH * OW, OW
  long columns;          // of the whole matrix
  long image, plane;     // source strides
  long size;             // elements of src that may be read
} Gather;

// What is remembered of VW columns, independent of row: six vectors of int.
#define COLUMN_H 0           // source row at tap 0; far outside for columns past the end
#define COLUMN_W VW          // source column at tap 0
#define COLUMN_REL (2 * VW)  // source offset from that of the first lane
#define COLUMN_IMAGE (3 * VW)
#define COLUMN_OH (4 * VW)
#define COLUMN_OW (5 * VW)
#define COLUMN_INTS (6 * VW)

// floor(a / b) for 0 <= a < 2^31, b > 0 and a / b < 2^22: the estimate is off by at most one.
INLINE intv divide_lanes(intv a, int b) {
  intv q = convert_intv(convert_floatv(a) * (1.0f / (float)b));
  const intv rest = a - q * b;
  q -= rest >= b;  // True is -1.
  q += rest < 0;
  return q;
}

// Describes the columns first … first + vectors * VW.
INLINE void gather_columns(__global int* table, const Gather* g, long first, int vectors) {
  for (int v = 0; v < vectors; ++v, first += VW, table += COLUMN_INTS) {
    const int image = (int)(first / g->pixels);
    const intv from_image = LANES + (int)(first - (long)image * g->pixels);
    const intv ahead = divide_lanes(from_image, g->pixels);
    const intv pixel = from_image - ahead * g->pixels;
    const intv oh = divide_lanes(pixel, g->pixels_w);
    const intv ow = pixel - oh * g->pixels_w;
    const intv h = oh * g->step_h + g->start_h;
    const intv w = ow * g->step_w + g->start_w;
    const intv inside = LANES < (int)min(g->columns - first, (long)VW);
    const intv rel = (ahead - ahead.s0) * (int)g->image + (h - h.s0) * g->width + (w - w.s0);
    vstorev((h & inside) | (~inside & -(1 << 30)), 0, table + COLUMN_H);
    vstorev(w, 0, table + COLUMN_W);
    vstorev(rel & inside, 0, table + COLUMN_REL);
    vstorev(ahead + image, 0, table + COLUMN_IMAGE);
    vstorev(oh, 0, table + COLUMN_OH);
    vstorev(ow, 0, table + COLUMN_OW);
  }
}

// Where row i of a block goes: panels of `tile` rows, whose vectors of one column lie side by side.
#define GATHER_ROW(i, tile, panel) ((i) / (tile) * (panel) + (i) % (tile) * VW)

// Copies those rows of first … end that belong to one tap: k, k + taps, … Row k goes to
// dst[GATHER_ROW(k - first, tile, panel)], dst being aligned to vectors; table describes the columns.
INLINE void gather_tap(__global float* dst, int tile, long panel, __global const float* src, const Gather* g,
                       __global const int* table, int first, int end, int k) {
  const int tap = k % g->taps;
  const int channel = k / g->taps;
  const int rows = (end - k + g->taps - 1) / g->taps;
  const int dh = tap / g->taps_w * g->tap_h;
  const int dw = tap % g->taps_w * g->tap_w;
  const intv h = vloadv(0, table + COLUMN_H) + dh;
  const intv w = vloadv(0, table + COLUMN_W) + dw;
  const intv inside = (h >= 0) & (h < g->height) & (w >= 0) & (w < g->width);
  const intv rel = vloadv(0, table + COLUMN_REL);
  long at = table[COLUMN_IMAGE] * g->image + channel * g->plane + (long)(table[COLUMN_H] + dh) * g->width +
            (table[COLUMN_W] + dw);
  const long last = at + (rows - 1) * g->plane + VW;
  const int jump = table[COLUMN_REL + VW - 1] - (VW - 1);  // Of the lanes past an end of a row or image.
  const intv jumps = rel - LANES;
  int i = k - first;
  if (all((jumps == 0) | (jumps == jump)) && min(at, at + jump) >= 0 && max(last, last + jump) <= g->size) {
    if (jump == 0) {
      for (int row = 0; row < rows; ++row, at += g->plane, i += g->taps)
        ALIGNED(dst + GATHER_ROW(i, tile, panel)) = as_floatv(as_intv(vloadv(0, src + at)) & inside);
    } else {
      const intv before = inside & (jumps == 0);
      const intv after = inside & (jumps != 0);
      for (int row = 0; row < rows; ++row, at += g->plane, i += g->taps)
        ALIGNED(dst + GATHER_ROW(i, tile, panel)) =
            as_floatv((as_intv(vloadv(0, src + at)) & before) | (as_intv(vloadv(0, src + at + jump)) & after));
    }
    return;
  }
  int lane_rel[VW];
  int lane_inside[VW];
  vstorev(rel, 0, lane_rel);
  vstorev(inside, 0, lane_inside);
  for (int row = 0; row < rows; ++row, at += g->plane, i += g->taps) {
    __global float* out = dst + GATHER_ROW(i, tile, panel);
    for (int lane = 0; lane < VW; ++lane) out[lane] = lane_inside[lane] ? src[at + lane_rel[lane]] : 0.0f;
  }
}
