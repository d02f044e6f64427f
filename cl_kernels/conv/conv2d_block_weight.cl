// Gradient of a convolution's weight on GPUs, fp32: conv/conv_weight.h in the tiles of product/block.h.
#include "product/block.h"

#define PIXEL_ITEM block_item()
#define PIXEL_LINE BK
#define PIXELS 1
#include "conv/conv_pixels.h"

INLINE void operands_keep(const Operands* o, const float* a, const float* b, __local float* stage) {
  __local float* to_a = stage + pixel_of_item(0) * PITCH_A + line_of_item();
  __local float* to_b = stage + BK * PITCH_A + pixel_of_item(0) * PITCH_B + line_of_item();
  UNROLL
  for (int p = 0; p < ROWS; ++p) to_a[p * LINES] = a[p];
  UNROLL
  for (int p = 0; p < COLUMNS; ++p) to_b[p * LINES] = gathered_value(o, b, p);
}

#include "product/block_multiply.h"
#include "product/plain_columns.h"
#include "product/block_store.h"

#define CONV_KERNEL BLOCK_KERNEL void conv2d_block_weight
#include "conv/conv_weight.h"
