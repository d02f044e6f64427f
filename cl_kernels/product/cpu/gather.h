// The virtual im2col matrix of a batch of images of STORED, copied block by block as floats.
//
// Row k = (channel, tap), tap = (r, s); column j = (image, oh, ow). The element is
//
//   src[image * g.image + channel * g.plane + h * g.width + w],  h = oh * g.step_h + g.start_h + r * g.tap_h
//                                                                w = ow * g.step_w + g.start_w + s * g.tap_w
//
// and 0 where (h, w) is outside the plane. A convolution reads its input with step = stride, start = -padding, tap =
// dilation. Its backward data reads the gradient with negative taps.
//
// If step_w is 1, neighbouring columns are neighbours in memory, except at the ends of rows and images. So a vector of
// columns takes one load, or two loads if it contains one such end. Its mask depends only on the tap. If step_w is 2 or
// 4, a load reads 2 or 4 vectors and takes every second or fourth element.
#include "common/vector.h"
#include "common/element.h"
#include "product/parameters.h"
#include "product/sizes.h"

typedef struct {
  int height, width;     // of a source plane
  int taps, taps_w;      // R * S, S
  int step_h, step_w, start_h, start_w, tap_h, tap_w;
  int pixels, pixels_w;  // columns of one image: OH * OW, OW
  long columns;          // of the whole matrix
  long image, plane;     // source strides
  long size;             // elements of src that may be read
  long to_image;         // strides of images, rows and columns of pixels in the result; below 2^27, the last two small
  int to_h, to_w;
} Gather;

// Makes a Gather of GatherParameters and ColumnParameters.
#define GATHER_OF(images, places, columns, size)                                                                      \
  {(images).height, (images).width,   (images).taps,    (images).taps_w, (images).step_h, (images).step_w,            \
   (images).start_h, (images).start_w, (images).tap_h,  (images).tap_w,  (places).pixels, (places).width,             \
   columns,          (images).image,   (images).plane,  size,            (places).to_image, (places).to_row,          \
   (places).to_column}

// The data about VW neighbouring columns: vectors of int, then a few scalars. The defines are their positions.
#define COLUMN_H 0             // the source row of tap 0; for columns after the last one, a row far outside
#define COLUMN_W VW            // source column at tap 0
#define COLUMN_REL (2 * VW)    // source offset relative to the first lane
#define COLUMN_TO (3 * VW)     // like COLUMN_REL, in the result
#define COLUMN_KIND (4 * VW)
#define COLUMN_JUMP (4 * VW + 1)
#define COLUMN_TO_RUN (4 * VW + 6)  // whether all lanes are neighbours in the result
#define COLUMN_INTS GATHERED_INTS(VW)
// The offset of the first lane at tap 0, in the source and in the result.
#define COLUMN_FIRST(column) (*(__global long*)((column) + 4 * VW + 2))
#define COLUMN_TO_FIRST(column) (*(__global long*)((column) + 4 * VW + 4))

// The kinds of positions that the lanes have in the source, relative to the first lane. The positions are the same for
// every tap.
#define RUN 0    // step_w apart, which is 1, 2 or 4
#define JUMP 1   // two runs of lanes step_w apart; `jump` more elements are between the runs
#define LANES_APART 2  // any other places

// floor(a / b) for 0 <= a < 2^31, b > 0 and a / b < 2^22: the estimate is off by at most one.
INLINE intv divide_lanes(intv a, int b) {
  intv q = convert_intv(convert_floatv(a) * (1.0f / (float)b));
  const intv rest = a - q * b;
  q -= rest >= b;  // A vector's true is -1.
  q += rest < 0;
  return q;
}

// Describes the columns first … first + vectors * VW - 1.
INLINE void gather_columns(__global int* table, const Gather* g, long first, int vectors) {
  NO_UNROLL
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
    const intv rel = ((ahead - ahead.s0) * (int)g->image + (h - h.s0) * g->width + (w - w.s0)) & inside;
    vstorev((h & inside) | (~inside & -(1 << 30)), 0, table + COLUMN_H);
    vstorev(w, 0, table + COLUMN_W);
    vstorev(rel, 0, table + COLUMN_REL);
    const intv to = (ahead - ahead.s0) * (int)g->to_image + (oh - oh.s0) * g->to_h + (ow - ow.s0) * g->to_w;
    vstorev(to, 0, table + COLUMN_TO);
    const int jump = table[COLUMN_REL + VW - 1] - (VW - 1) * g->step_w;
    const intv jumps = rel - LANES * g->step_w;
    const bool runs = (g->step_w == 1 || g->step_w == 2 || g->step_w == 4) && all((jumps == 0) | (jumps == jump));
    table[COLUMN_KIND] = runs ? (jump == 0 ? RUN : JUMP) : LANES_APART;
    table[COLUMN_JUMP] = jump;
    table[COLUMN_TO_RUN] = all((to == LANES) & inside);
    COLUMN_FIRST(table) = (image + ahead.s0) * g->image + (long)table[COLUMN_H] * g->width + table[COLUMN_W];
    COLUMN_TO_FIRST(table) = (image + ahead.s0) * g->to_image + (long)oh.s0 * g->to_h + (long)ow.s0 * g->to_w;
  }
}

// The position of row i of a block. A panel has `tile` rows, and the vectors of one column of a panel are neighbours. i
// / tile is computed as i * PANEL_INVERSE(tile) / 2^16, because a division for each vector takes longer. The result is
// exact for i < 2^15 / tile.
#define PANEL_INVERSE(tile) (65536 / (tile) + 1)
#define GATHER_PANEL(i, tile) ((tile) == 1 ? (i) : ((i) * inverse) >> 16)
#define GATHER_ROW(i, tile, panel) \
  (GATHER_PANEL(i, tile) * (panel) + ((i) - GATHER_PANEL(i, tile) * (tile)) * VW)

// Elements 0, step, 2 step, …
INLINE floatv load_stepped(__global const STORED* from, int step) {
  if (step == 1) return LOAD_MANY(STORED, from);
  const floatv a = LOAD_MANY(STORED, from), b = LOAD_MANY(STORED, from + VW);
  const floatv low = (floatv)(a.even, b.even);
  if (step == 2) return low;
  const floatv c = LOAD_MANY(STORED, from + 2 * VW), d = LOAD_MANY(STORED, from + 3 * VW);
  const floatv high = (floatv)(c.even, d.even);
  return (floatv)(low.even, high.even);
}

// Copies some rows of first … end for one vector of columns: the rows k, k + taps, … that have the same tap.
INLINE void gather_tap(__global float* dst, int tile, long row_panel, __global const STORED* src, const Gather* g,
                       __global int* column, int first, int end, int k) {
  const int tap = k % g->taps;
  const int rows = (end - k + g->taps - 1) / g->taps;
  const int dh = tap / g->taps_w * g->tap_h;
  const int dw = tap % g->taps_w * g->tap_w;
  const intv h = vloadv(0, column + COLUMN_H) + dh;
  const intv w = vloadv(0, column + COLUMN_W) + dw;
  const intv inside = (h >= 0) & (h < g->height) & (w >= 0) & (w < g->width);
  const int inverse = PANEL_INVERSE(tile);
  const int jump = column[COLUMN_JUMP];
  int kind = column[COLUMN_KIND];
  long at = COLUMN_FIRST(column) + k / g->taps * g->plane + (long)dh * g->width + dw;
  const long last = at + (rows - 1) * g->plane + g->step_w * VW;
  // A vector load must stay within the tensor, even in lanes that are masked.
  if (min(at, at + jump) < 0 || max(last, last + jump) > g->size) kind = LANES_APART;
  int i = k - first;
  if (kind == RUN) {
    NO_UNROLL
    for (int row = 0; row < rows; ++row, at += g->plane, i += g->taps)
      ALIGNED(dst + GATHER_ROW(i, tile, row_panel)) = as_floatv(as_intv(load_stepped(src + at, g->step_w)) & inside);
  } else if (kind == JUMP) {
    const intv before = inside & (vloadv(0, column + COLUMN_REL) == LANES * g->step_w);
    const intv after = inside & ~before;
    NO_UNROLL
    for (int row = 0; row < rows; ++row, at += g->plane, i += g->taps)
      ALIGNED(dst + GATHER_ROW(i, tile, row_panel)) = as_floatv(
          (as_intv(load_stepped(src + at, g->step_w)) & before) | (as_intv(load_stepped(src + at + jump, g->step_w)) & after));
  } else {
    int lane_inside[VW];
    vstorev(inside, 0, lane_inside);
    NO_UNROLL
    for (int row = 0; row < rows; ++row, at += g->plane, i += g->taps) {
      __global float* out = dst + GATHER_ROW(i, tile, row_panel);
      NO_UNROLL
      for (int lane = 0; lane < VW; ++lane)
        out[lane] = lane_inside[lane] ? LOAD(STORED, src, at + column[COLUMN_REL + lane]) : 0.0f;
    }
  }
}

// Copies the rows first … end of the matrix for the columns that table describes. Row first + i, vector v goes to
//
//   dst[i / tile * row_panel + i % tile * VW + v / group * vector_panel + v % group * vector_step]
//
// This serves panels of columns (tile 1) and panels of rows (group 1). dst and all distances are aligned to vectors.
INLINE void gather_rows(__global float* dst, int tile, long row_panel, int group, long vector_panel, int vector_step,
                        __global const STORED* src, const Gather* g, __global int* table, int vectors, int first,
                        int end) {
  NO_UNROLL
  for (int k = first; k < min(end, first + g->taps); ++k)
    NO_UNROLL
    for (int v = 0; v < vectors; ++v)
      gather_tap(dst + v / group * vector_panel + v % group * vector_step, tile, row_panel, src, g,
                 table + v * COLUMN_INTS, first, end, k);
}
