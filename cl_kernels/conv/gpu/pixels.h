// The pixels of the result that conv2d_tiled_weight.cl sums over, for the readers of dy and x.
//
// An item reads PIXELS of a slice's pixels for several rows and columns. A table of conv2d_tiled_prepare.cl says where
// these pixels are and which of their taps are outside of the plane. An entry is (bytes to its first tap in x, bits of
// the taps outside, bytes in dy, unused). The table has entries for `table_size` pixels of several images, at least for
// a whole slice. After these it has entries for one more slice. Later images use the same entries, but their addresses
// are x_step and y_step further. So no loop needs a division.
//
// An item makes one word of local memory for each of its rows and columns. If a word holds two pixels, they are half a
// slice apart, so that neighbouring items read neighbouring pixels. The order of the pixels within a slice does not
// matter, as long as both operands have the same order.
#include "common/subgroup_broadcast.h"
#include "conv/parameters.h"
#include "product/gpu/engines/engine.h"
#include "product/gpu/storage.h"

#ifndef SRC_STORAGE  // How x and dy are stored (product/gpu/storage.h).
#define SRC_STORAGE STORAGE_F32
#endif
#define PIXELS PER_WORD
#define PIXEL_LINE (SLICE / PIXELS)  // Items that are neighbours along a slice.
#define LINES (ITEMS / PIXEL_LINE)   // Rows or columns that are read at the same time.
INLINE int pixel_of_item(int e) { return tile_item() % PIXEL_LINE + e * PIXEL_LINE; }
INLINE int line_of_item(void) { return tile_item() / PIXEL_LINE; }

typedef struct {
  __global const int4* table;
  int at, table_size;  // `at` is the index of the slice's first pixel in the table.
  uint pixel[PIXELS];  // The item's pixels, counted from `at`.
} Pixels;

// Begins at `first` in the depth. Returns how many tables of pixels come before it.
INLINE uint pixels_begin(Pixels* v, __global const int4* table, int table_size, int first, int depth) {
  const uint turn = SUBGROUP_BROADCAST((uint)first / (uint)table_size);
  v->at = first - (int)turn * table_size;
  v->table = table;
  v->table_size = table_size;
  // If the depth is shorter than a slice, reads of pixels after its end are moved to the last pixel.
  UNROLL
  for (int e = 0; e < PIXELS; ++e) v->pixel[e] = (uint)min(pixel_of_item(e), depth - 1);
  return turn;
}

// Moves by at most a slice, so it passes the end of the table at most once. Returns true if it passes the end.
INLINE bool pixels_move(Pixels* v, int depth) {
  v->at += depth;
  const bool next = v->at >= v->table_size;
  v->at -= next ? v->table_size : 0;
  return next;
}

// Sets the values of `lines` rows or columns to 0 for the pixels after the end of the depth.
INLINE void pixels_end(VALUE_TYPE* values, int lines, int depth) {
  UNROLL
  for (int e = 0; e < PIXELS; ++e) {
    if (pixel_of_item(e) < depth) continue;
    UNROLL
    for (int p = 0; p < lines; ++p) values[p * PIXELS + e] = 0.0f;
  }
}
