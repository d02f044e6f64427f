// A of conv2d_tiled_weight.cl: the planes of dy. A row is a channel, and the depth runs over the pixels of all images.
#include "conv/gpu/pixels.h"

#define ROWS (BM / LINES)

typedef struct {
  // Points to the group's channels in the images of the slice's first pixel. The pointer is the same for all items, so
  // that an address is one pointer plus one number.
  __global const char* y;
  long step;       // Distance in bytes from the images of the table to the next images.
  uint row[ROWS];  // Distances in bytes from the first channel to the item's rows.
} PlanesReader;

// Begins at row `row` of m rows of A. y points to the first channel of the group. The table was used `turn` times.
INLINE void planes_begin(PlanesReader* v, __global const char* y, const PixelsParameters* p, uint turn, int row,
                         int m) {
  const uint bytes = STORED_BYTES(SRC_STORAGE);
  v->step = (long)p->dy_step * bytes;
  v->y = y + turn * v->step;
  UNROLL
  for (int l = 0; l < ROWS; ++l)
    v->row[l] = (uint)min(row + line_of_item() + l * LINES, m - 1) * (uint)p->dy_channel * bytes;
}

// Reads pixel e of the item, whose entry of the table is `pixel`.
INLINE void planes_load(const PlanesReader* v, VALUE_TYPE* values, int e, int4 pixel) {
  UNROLL
  for (int p = 0; p < ROWS; ++p)
    values[p * PIXELS + e] = stored_value(v->y + ((uint)pixel.z + v->row[p]), SRC_STORAGE);
}

INLINE void planes_keep(const VALUE_TYPE* values, __local StageWord* stage) {
  UNROLL
  for (int p = 0; p < ROWS; ++p)
    stage_word(stage, BM, line_of_item() + p * LINES, pixel_of_item(0), values[p * PIXELS],
               values[p * PIXELS + PIXELS - 1]);
}
