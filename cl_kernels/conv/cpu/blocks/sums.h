// Sums of a tile of y, for kernels over channels in blocks. The host defines T and STRIDE (blocks/blocks.h). For
// products with all channels it defines OB, the number of blocks in a tile. For depthwise kernels it defines TAPS_W and
// DILATION_W, so that neighbouring taps share their loads.

#ifdef OB
// Adds the products of one channel to the sums of a tile. `from` points to the channel's number in the first column of
// x, and the next columns are `step` floats apart.
INLINE void add_channel(floatv acc[OB * T], __global const float* from, int step, __global const float* weight) {
  floatv weights[OB];
#pragma unroll
  for (int b = 0; b < OB; ++b) weights[b] = UNALIGNED_CONST(weight + b * VW);
#pragma unroll
  for (int t = 0; t < T; ++t) {
    const floatv number = (floatv)(from[t * step]);
#pragma unroll
    for (int b = 0; b < OB; ++b) acc[b * T + t] = FMA(number, weights[b], acc[b * T + t]);
  }
}

// Adds the products of one tap with `depth` channels to the sums of a tile. `from` points to the tile's first column of
// x as floats, and `weight` points to the tap's weights. Four channels at a time are 3 to 8 % faster than single ones.
INLINE void add_tap(floatv acc[OB * T], __global const float* from, int step, __global const float* weight, int depth) {
  int i = 0;
  NO_UNROLL
  for (; i + 4 <= depth; i += 4) {
#pragma unroll
    for (int j = 0; j < 4; ++j) add_channel(acc, from + i + j, step, weight + (i + j) * OB * VW);
  }
  NO_UNROLL
  for (; i < depth; ++i) add_channel(acc, from + i, step, weight + i * OB * VW);
}

// Stores f(sums + bias) of OB blocks from `first` on, at `count` pixels from `pixel` on. y points to an image whose
// blocks have `plane` pixels each. Blocks that y does not have are left out. The loop below is not unrolled, so `sums`
// is in memory. The caller therefore gives a copy, and keeps its own sums in registers. Without the copy, MobileNetV2
// took a third longer.
INLINE void store_blocks(__global RESULT* y, const floatv sums[OB * T], int first, int blocks, int count,
                         __global const float* bias, long plane, long pixel, const Finish* finish, int flags) {
  NO_UNROLL
  for (int b = 0; b < min(OB, blocks - first); ++b) {
    const int block = first + b;
    const floatv shift = flags & BIAS_PER_ROW ? UNALIGNED_CONST(bias + block * VW) : (floatv)(0.0f);
    store_pixels(y + block * plane * VW, sums + b * T, count, shift, block, pixel, finish, flags);
  }
}
#endif

#ifdef TAPS_W
#define SEEN ((T - 1) * STRIDE + (TAPS_W - 1) * DILATION_W + 1)

// Column c of those that a tile reads, or zero outside of the image. `line` points to column `start` of x, the first
// one.
INLINE floatv column_of_tile(__global const STORED* line, int c, int start, int width, bool is_inside) {
  return is_inside || (start + c >= 0 && start + c < width) ? LOAD_MANY(STORED, line + c * VW) : (floatv)(0.0f);
}

// Adds the products of all taps to the sums. x points to line 0, in column `start`. `is_inside` is a constant: it says
// that the image has all columns that the tile reads.
INLINE void add_taps(floatv acc[T], __global const STORED* x, __global const float* w, int row, int start,
                     const ConvWindow* window, int height, int width, bool is_inside) {
  NO_UNROLL
  for (int r = 0; r < window->taps_h; ++r) {
    const int h = row * window->stride_h - window->pad_h + r * window->dilation_h;
    if (h < 0 || h >= height) continue;
    __global const STORED* line = x + (long)h * width * VW;
    __global const float* weight = w + r * TAPS_W * VW;
#if SEEN <= 64
    floatv seen[SEEN];  // Compilers do not find common loads under conditions.
#pragma unroll
    for (int c = 0; c < SEEN; ++c) seen[c] = column_of_tile(line, c, start, width, is_inside);
#define TILE_COLUMN(c) seen[c]
#else
#define TILE_COLUMN(c) column_of_tile(line, c, start, width, is_inside)
#endif
#pragma unroll
    for (int s = 0; s < TAPS_W; ++s) {
      const floatv tap = UNALIGNED_CONST(weight + s * VW);
#pragma unroll
      for (int t = 0; t < T; ++t) acc[t] = FMA(TILE_COLUMN(t * STRIDE + s * DILATION_W), tap, acc[t]);
    }
  }
}

// Computes the sums of T columns of one block, from `column` of `row` on. x and w point to this block. Tiles at the
// edges have code of their own, so that the other tiles ask nothing. This made 3 x 3 taps up to 1.7 times faster.
INLINE void depthwise_sums(floatv sums[T], __global const STORED* x, __global const float* w, int row, int column,
                           const ConvWindow* window, int height, int width) {
  const int start = column * STRIDE - window->pad_w;
  floatv acc[T];
#pragma unroll
  for (int t = 0; t < T; ++t) acc[t] = (floatv)(0.0f);
  if (start >= 0 && start + SEEN <= width)
    add_taps(acc, x + start * VW, w, row, start, window, height, width, true);
  else
    add_taps(acc, x + start * VW, w, row, start, window, height, width, false);
#pragma unroll
  for (int t = 0; t < T; ++t) sums[t] = acc[t];
}
#endif
