// Gradient of a convolution's weight on matrix units: conv/conv_weight.h in the tiles of product/matrix_tile.h. dy and
// x are rounded to tf32, fp16 or bf16 on their way into local memory, and summed in fp32.
#include "product/matrix_tile.h"

// An item makes one word for each of its rows and columns, from pixels that are half a slice apart. The order of the
// pixels within a slice does not matter, as long as both operands have the same order.
#define PIXEL_ITEM tile_item()
#define PIXEL_LINE SLICE_WORDS
#define PIXELS PER_WORD
#include "conv/conv_pixels.h"

#define LOADS_A (ROWS * PIXELS)
#define LOADS_B (COLUMNS * PIXELS)

INLINE void operands_keep(const Operands* o, const float* a, const float* b, __local uint* stage) {
  const int word = pixel_of_item(0), last = PIXELS - 1;
  UNROLL
  for (int p = 0; p < ROWS; ++p)
    stage[place_of_word(line_of_item() + p * LINES, word)] = round_word(a[p * PIXELS], a[p * PIXELS + last]);
  UNROLL
  for (int p = 0; p < COLUMNS; ++p)
    stage[BM * SLICE_WORDS + place_of_word(line_of_item() + p * LINES, word)] =
        round_word(gathered_value(o, b, p * PIXELS), gathered_value(o, b, p * PIXELS + last));
}

#include "product/matrix_loop.h"
#include "product/plain_columns.h"
#include "product/matrix_store.h"

#define CONV_KERNEL MATRIX_KERNEL void conv2d_matrix_weight
#include "conv/conv_weight.h"
