// The operands of conv/conv_weight.h: dy and x, read as they lie.
//
// An item reads PIXELS of a slice's pixels for several rows and columns. Where they lie, and which taps they see outside,
// stands in a table of conv2d_block_prepare.cl: (bytes to its first tap in x, bits of the taps outside, bytes in dy, unused)
// for the `table_size` pixels of so many images that a slice has no more, and for those of a slice behind them; then come the
// next images, x_step and y_step further. So a loop divides nothing.
//
// Whoever includes this defines before it, beside a tile's BM, BN and ITEMS, which item this is, PIXEL_ITEM; PIXELS; and
// PIXEL_LINE, the items that stand side by side along a slice. The pixels of an item lie PIXEL_LINE apart: a read of
// neighbours is one of neighbouring pixels.
#include "conv/conv_taps.h"
#include "conv/hidden_reads.h"

#define LINES (ITEMS / PIXEL_LINE)  // That are read at a time.
#define ROWS (BM / LINES)
#define COLUMNS (BN / LINES)
INLINE int pixel_of_item(int e) { return PIXEL_ITEM % PIXEL_LINE + e * PIXEL_LINE; }
INLINE int line_of_item(void) { return PIXEL_ITEM / PIXEL_LINE; }

typedef struct {
  // Of the group and the images that the slice begins in: the same for all items, so that addresses are these and one number.
  __global const char *x, *y;
  __global const int4* table;
  long x_step, y_step;              // Bytes.
  int at, table_size;               // The slice's first pixel in the table.
  uint pixel[PIXELS];               // The item's, counted from there.
  uint row[ROWS], column[COLUMNS];  // Bytes from a pixel's first element in dy and x on.
  uint taps[COLUMNS];
  bool hidden[COLUMNS * PIXELS];  // Of the slice that was read.
} Operands;

INLINE void operands_load(Operands* o, float* a, float* b) {
  UNROLL
  for (int e = 0; e < PIXELS; ++e) {
    const int4 pixel = (o->table + o->at)[o->pixel[e]];
    UNROLL
    for (int p = 0; p < ROWS; ++p)
      a[p * PIXELS + e] = *(__global const float*)(o->y + ((uint)pixel.z + o->row[p]));
    UNROLL
    for (int p = 0; p < COLUMNS; ++p) {
      const int i = p * PIXELS + e;
      const uint place = (uint)pixel.x + o->column[p];
      o->hidden[i] = (o->taps[p] & (uint)pixel.y) != 0;
#if SKIPS_HIDDEN
      b[i] = 0.0f;
      if (!o->hidden[i]) b[i] = *(__global const float*)(o->x + place);
#else
      b[i] = *(__global const float*)(o->x + (o->hidden[i] ? 0 : place));  // Outside, something that may be read.
#endif
    }
  }
}

INLINE void operands_end(float* a, float* b, int depth) {
  UNROLL
  for (int e = 0; e < PIXELS; ++e) {
    if (pixel_of_item(e) < depth) continue;
    UNROLL
    for (int p = 0; p < ROWS; ++p) a[p * PIXELS + e] = 0.0f;
    UNROLL
    for (int p = 0; p < COLUMNS; ++p) b[p * PIXELS + e] = 0.0f;
  }
}

// By at most a slice, and so over no more than one end of the table.
INLINE void operands_move(Operands* o, int depth) {
  o->at += depth;
  const bool next = o->at >= o->table_size;
  o->at -= next ? o->table_size : 0;
  o->x += next ? o->x_step : 0;
  o->y += next ? o->y_step : 0;
}

// What was read of column i / PIXELS, 0 where it lies outside of the plane.
INLINE float gathered_value(const Operands* o, const float* b, int i) {
  return !SKIPS_HIDDEN && o->hidden[i] ? 0.0f : b[i];
}
