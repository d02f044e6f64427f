// B of conv2d_tiled_weight.cl: the windows of x, which are read in place. A column is (channel, tap), and the depth
// runs over the pixels of all images.
#include "conv/gpu/pixels.h"
#include "conv/gpu/window.h"

#define COLUMNS (BN / LINES)

typedef struct {
  // Points to the group's channels in the images of the slice's first pixel. The pointer is the same for all items, so
  // that an address is one pointer plus one number.
  __global const char* x;
  long step;             // Distance in bytes from the images of the table to the next images.
  uint column[COLUMNS];  // Distances in bytes from a pixel's first tap to the item's columns.
  uint taps[COLUMNS];
  bool hidden[COLUMNS * PIXELS];  // Whether the value that was read last is outside of the plane.
} WindowsReader;

// Begins at column `column` of the n columns of B. x points to the start of the group, and `turn` tables of pixels come
// before.
INLINE void windows_begin(WindowsReader* v, __global const char* x, const PixelsParameters* p, uint turn, int column,
                          int n) {
  const uint bytes = STORED_BYTES(SRC_STORAGE);
  v->step = (long)p->x_step * bytes;
  v->x = x + turn * v->step;
  UNROLL
  for (int l = 0; l < COLUMNS; ++l) {
    const uint j = (uint)min(column + line_of_item() + l * LINES, n - 1);
    Tap tap;
    const uint channel = find_tap(j, (uint)p->taps_d, (uint)p->taps_h, (uint)p->taps_w, &tap);
    v->column[l] = (channel * (uint)p->channel + tap.q * (uint)p->slice + tap.r * (uint)p->row +
                   tap.s * (uint)p->column) * bytes;
    v->taps[l] = tap_bits(&tap);
  }
}

// Reads pixel e of the item, whose entry of the table is `pixel`.
INLINE void windows_load(WindowsReader* v, VALUE_TYPE* values, int e, int4 pixel) {
  UNROLL
  for (int p = 0; p < COLUMNS; ++p) {
    const int i = p * PIXELS + e;
    const uint place = (uint)pixel.x + v->column[p];
    v->hidden[i] = (v->taps[p] & (uint)pixel.y) != 0;
#if SKIPS_HIDDEN
    values[i] = 0.0f;
    if (!v->hidden[i]) values[i] = stored_value(v->x + place, SRC_STORAGE);
#else
    // Outside of the plane this reads the value at another address that is readable. The value is not used.
    values[i] = stored_value(v->x + (v->hidden[i] ? 0 : place), SRC_STORAGE);
#endif
  }
}

// The value that was read for column i / PIXELS, or 0 if it is outside of the plane.
INLINE VALUE_TYPE windows_value(const WindowsReader* v, const VALUE_TYPE* values, int i) {
  return !SKIPS_HIDDEN && v->hidden[i] ? 0.0f : values[i];
}

INLINE void windows_keep(const WindowsReader* v, const VALUE_TYPE* values, __local StageWord* stage) {
  UNROLL
  for (int p = 0; p < COLUMNS; ++p)
    stage_word(stage, BN, line_of_item() + p * LINES, pixel_of_item(0), windows_value(v, values, p * PIXELS),
               windows_value(v, values, p * PIXELS + PIXELS - 1));
}
