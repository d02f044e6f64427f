// The operands of conv2d_tiled_weight.cl: dy and x, which are read in place.
//
// An item reads PIXELS of a slice's pixels for several rows and columns. A table of conv2d_tiled_prepare.cl says where
// these pixels are and which of their taps are outside of the plane. An entry is (bytes to its first tap in x, bits of
// the taps outside, bytes in dy, unused). The table has entries for `table_size` pixels, which are the pixels of
// several images and at least as many as a slice has. It also has the entries of one slice more. The next images use
// the same entries, x_step and y_step further. So a loop divides nothing.
//
// An item makes one word of local memory for each of its rows and columns. Its pixels are half a slice apart where a
// word holds two, so that neighbouring items read neighbouring pixels. The order of the pixels within a slice does not
// matter, as long as both operands have the same order.
#include "conv/hidden_reads.h"
#include "common/uniform.h"
#include "conv/window.h"
#include "product/engines/engine.h"
#include "product/storage.h"

#ifndef SRC_STORAGE  // How x and dy are stored (product/storage.h).
#define SRC_STORAGE STORAGE_F32
#endif
#define PIXELS PER_WORD
#define PIXEL_LINE (SLICE / PIXELS)  // Items that are neighbours along a slice.
#define LINES (ITEMS / PIXEL_LINE)  // Rows or columns that are read at the same time.
#define ROWS (BM / LINES)
#define COLUMNS (BN / LINES)
INLINE int pixel_of_item(int e) { return tile_item() % PIXEL_LINE + e * PIXEL_LINE; }
INLINE int line_of_item(void) { return tile_item() / PIXEL_LINE; }

typedef struct {
  // The start of the group and of the images in which the slice begins. These pointers are the same for all items, so
  // that an address is one of them plus one number.
  __global const char *x, *y;
  __global const int4* table;
  long x_step, y_step;              // Bytes.
  int at, table_size;               // `at` is the place of the slice's first pixel in the table.
  uint pixel[PIXELS];               // The item's pixels, counted from `at`.
  uint row[ROWS], column[COLUMNS];  // Bytes from a pixel's first element in dy and in x.
  uint taps[COLUMNS];
  bool hidden[COLUMNS * PIXELS];  // Whether the last value read is outside of the plane.
} Operands;

// For the tile at (row, column) of an m x n result, and the depth from `first` on. y and x are at the start of the
// group.
INLINE void pixels_begin(Operands* o, __global const char* y, __global const char* x, __global const int4* table,
                         const PixelsParameters* p, int first, int depth, int row, int m, int column, int n) {
  const uint bytes = STORED_BYTES(SRC_STORAGE);
  const uint turn = UNIFORM((uint)first / (uint)p->table_size);
  o->at = first - (int)turn * p->table_size;
  o->table = table;
  o->table_size = p->table_size;
  o->x_step = (long)p->x_step * bytes;
  o->y_step = (long)p->dy_step * bytes;
  o->x = x + turn * o->x_step;
  o->y = y + turn * o->y_step;
  // If the depth is less than a slice, the pixels after the end are read at the last pixel.
  UNROLL
  for (int e = 0; e < PIXELS; ++e) o->pixel[e] = (uint)min(pixel_of_item(e), depth - 1);
  UNROLL
  for (int l = 0; l < ROWS; ++l)
    o->row[l] = (uint)min(row + line_of_item() + l * LINES, m - 1) * (uint)p->dy_channel * bytes;
  UNROLL
  for (int l = 0; l < COLUMNS; ++l) {
    const uint j = (uint)min(column + line_of_item() + l * LINES, n - 1);
    Tap tap;
    const uint channel = find_tap(j, (uint)p->taps_d, (uint)p->taps_h, (uint)p->taps_w, &tap);
    o->column[l] = (channel * (uint)p->channel + tap.q * (uint)p->slice + tap.r * (uint)p->row +
                   tap.s * (uint)p->column) * bytes;
    o->taps[l] = tap_bits(&tap);
  }
}

INLINE void operands_load(Operands* o, float* a, float* b) {
  UNROLL
  for (int e = 0; e < PIXELS; ++e) {
    const int4 pixel = (o->table + o->at)[o->pixel[e]];
    UNROLL
    for (int p = 0; p < ROWS; ++p)
      a[p * PIXELS + e] = stored_value(o->y + ((uint)pixel.z + o->row[p]), SRC_STORAGE);
    UNROLL
    for (int p = 0; p < COLUMNS; ++p) {
      const int i = p * PIXELS + e;
      const uint place = (uint)pixel.x + o->column[p];
      o->hidden[i] = (o->taps[p] & (uint)pixel.y) != 0;
#if SKIPS_HIDDEN
      b[i] = 0.0f;
      if (!o->hidden[i]) b[i] = stored_value(o->x + place, SRC_STORAGE);
#else
      // Outside of the plane, this is a value that may be read but is not used.
      b[i] = stored_value(o->x + (o->hidden[i] ? 0 : place), SRC_STORAGE);
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

// Moves by at most a slice, so that it passes the end of the table at most once.
INLINE void operands_move(Operands* o, int depth) {
  o->at += depth;
  const bool next = o->at >= o->table_size;
  o->at -= next ? o->table_size : 0;
  o->x += next ? o->x_step : 0;
  o->y += next ? o->y_step : 0;
}

// The value that was read for column i / PIXELS, or 0 where it is outside of the plane.
INLINE float pixels_value(const Operands* o, const float* b, int i) {
  return !SKIPS_HIDDEN && o->hidden[i] ? 0.0f : b[i];
}

INLINE void operands_keep(const Operands* o, const float* a, const float* b, __local StageWord* stage) {
  const int word = pixel_of_item(0), last = PIXELS - 1;
  UNROLL
  for (int p = 0; p < ROWS; ++p)
    stage_word(STAGE_A(stage), BM, line_of_item() + p * LINES, word, a[p * PIXELS], a[p * PIXELS + last]);
  UNROLL
  for (int p = 0; p < COLUMNS; ++p)
    stage_word(STAGE_B(stage), BN, line_of_item() + p * LINES, word, pixels_value(o, b, p * PIXELS),
               pixels_value(o, b, p * PIXELS + last));
}
