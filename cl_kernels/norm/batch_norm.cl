// Batch normalisation of a contiguous x (images, channels, spatial) of STORED. The statistics of a channel are over its
// M = images * spatial values.
//
//   y = (x - mean) invstd w + b              w = 1 without weight, b = 0 without bias
//   dbias = sum dy      dweight = sum dy (x - mean) invstd
//   dx = w invstd (dy - (dbias + (x - mean) invstd dweight) / M)    or w invstd dy where mean and invstd are constants
//
// There are three launches. In the first, a group computes the statistics of one part of a channel. In the second, one
// work-item combines the parts of a channel (norm/batch_norm_channels.h). The third computes the elements. Partial
// results are [part][channel][2].
//
//   VW > 1   a row (a channel of an image) has `pieces` pieces of `piece` elements. Part p is piece p % pieces of image
//            p / pieces. A work-item takes pieces in the order of memory.
//   VW 1     the elements of a channel are numbered through all images. A part has PART_CHUNKS elements, and `piece` is
//            PART_CHUNKS. Neighbouring groups take neighbouring channels. QUADS: rows consist of groups of four
//            elements, which begin at multiples of four elements and are read at once.
//
// All parts subtract the channel's first value, so that rounding errors of large means do not show in the variance.
#ifndef INDEX  // A type that holds the number of elements; used if VW is 1.
#define INDEX int
#endif
#include "common/fma.h"
#include "norm/batch_norm_channels.h"

// EACH_PIECE comes before a block and runs it for each piece: `n` elements of `row` from `begin` on.
#define PIECE_OF_ROW(index)                    \
  const long begin = (index) * sizes.piece;    \
  const long n = min(sizes.piece, sizes.spatial - begin);
#if VW > 1
#define PIECES_OF_ROW PIECES(sizes.spatial, sizes.piece)
#define EACH_PIECE                                  \
  EACH_ROW(unit, sizes.rows * PIECES_OF_ROW) {      \
    const long row = unit / PIECES_OF_ROW;          \
    PIECE_OF_ROW(unit % PIECES_OF_ROW)
#else
#define EACH_PIECE            \
  EACH_ROW(row, sizes.rows) { \
    PIECE_OF_ROW((long)get_global_id(1))
#endif

// EACH_PART comes before a block and runs it for each `part` of `channel`. In the block, EACH_UNIT_OF_PART goes through
// the part's elements, and STEP finds its chunk at x + at.
#if VW > 1
#define EACH_PART                                                                  \
  EACH_PIECE                                                                       \
    const long channel = row % sizes.channels;                                     \
    const long part = row / sizes.channels * PIECES_OF_ROW + unit % PIECES_OF_ROW; \
    const long at = row * sizes.spatial + begin;
#define EACH_UNIT_OF_PART(STEP, DONE) EACH_CHUNK(n, STEP, DONE)
#define UNIT 1
#define FETCH(v, p, c, fill, whole) *(v) = load_chunk(p, c, n, 1, fill, whole);
#define ONLY_NEW(v, c, whole) only_new(v, c, n, 0.0f, whole)
#else
#define ONLY_NEW(v, c, whole) (v)
#ifdef QUADS
#define UNIT 4
#define FETCH(v, p, c, fill, whole) vstore4(LOAD_QUAD(STORED, p, c), 0, v);
#else
#define UNIT 1
#define FETCH(v, p, c, fill, whole) *(v) = LOAD(STORED, p, c);
#endif
#define EACH_PART                                                   \
  EACH_ROW(channel, sizes.channels) {                               \
    const long part = get_global_id(1);                             \
    const long first = part * (PART_CHUNKS / UNIT);                 \
    const long end = min(first + PART_CHUNKS / UNIT, sizes.rows / sizes.channels * sizes.spatial / UNIT);
// Goes through units that are GROUP apart, over all images. STEP(k, 0, 1) must put the unit at x + at into v[k]. All
// divisions are at the start. From there on positions are computed by additions.
#define EACH_UNIT_OF_PART(STEP, DONE)                                                               \
  {                                                                                                 \
    const INDEX length = (INDEX)(sizes.spatial / UNIT), further = GROUP % length;                   \
    const INDEX next_image = (INDEX)((sizes.channels - 1) * sizes.spatial);                         \
    const INDEX jump = (INDEX)(GROUP / length * sizes.channels * sizes.spatial) + further * UNIT;   \
    const long unit = first + LANE_ID;                                                              \
    INDEX in_row = (INDEX)(unit % length);                                                          \
    INDEX at = (INDEX)((unit / length * sizes.channels + channel) * sizes.spatial) + in_row * UNIT; \
    const int number = (int)(end - first);                                                          \
    int i_ = (int)LANE_ID;                                                                          \
    for (; i_ + (BLOCK / UNIT - 1) * GROUP < number; i_ += BLOCK / UNIT * GROUP) {                  \
      EACH_OF(k_, BLOCK / UNIT) {                                                                   \
        STEP(k_ * UNIT, 0, 1)                                                                       \
        NEXT_UNIT                                                                                   \
      }                                                                                             \
      DONE(BLOCK)                                                                                   \
    }                                                                                               \
    for (; i_ < number; i_ += GROUP) {                                                              \
      STEP(0, 0, 1)                                                                                 \
      NEXT_UNIT                                                                                     \
      DONE(UNIT)                                                                                    \
    }                                                                                               \
  }
#define NEXT_UNIT            \
  in_row += further;         \
  at += jump;                \
  if (in_row >= length) {    \
    in_row -= length;        \
    at += next_image;        \
  }
#endif
#define END_EACH }

// The sum over a part. Without vectors an item sums up only eight blocks, so a plain sum is exact enough.
#if VW > 1
#define PART_SUM RowSum
#define ADD_TO(sum, block) TWO_SUM(rowv, (sum).total, (sum).lost, block)
#define PART_TOTAL(sum) total_of(sum)
#define EMPTY_PART EMPTY_SUM
#else
#define PART_SUM rowv
#define ADD_TO(sum, block) sum += block;
#define PART_TOTAL(sum) row_sum(sum)
#define EMPTY_PART 0.0f
#endif

// The sum of v[i] w[i] over a block.
INLINE rowv block_products(const rowv* v, const rowv* w, const int count) {
  if (count == 1) return v[0] * w[0];
#define TWO(i) FMA(v[i], w[i], v[i + 1] * w[i + 1])
  return count == 4 ? TWO(0) + TWO(2) : (TWO(0) + TWO(2)) + (TWO(4) + TWO(6));
}

// For each part: the mean minus the channel's first value, and the sum of squared distances from the mean.
EACH_ROW_KERNEL void batch_norm_moments(__global const STORED* restrict x, ulong x_offset,
    __global float* restrict partial, ulong partial_offset, BatchNormParameters sizes) {
  ROW_SCRATCH;
  x += x_offset;
  EACH_PART
    const float base = LOAD(STORED, x, channel * sizes.spatial);
    const long count = part_size(part, sizes.rows / sizes.channels, sizes.spatial, sizes.piece);
    rowv v[BLOCK];
    PART_SUM sum = EMPTY_PART;
#define READ(k, c, whole)                          \
  FETCH(v + (k), x + at, c, base, whole)           \
  EACH_OF(u, UNIT) v[(k) + u] -= base;
#define ADD(count) ADD_TO(sum, block_sum(v, count))
    EACH_UNIT_OF_PART(READ, ADD)
    const float mean = PART_TOTAL(sum) / count;
    const float centre = base + mean;
    PART_SUM squares = EMPTY_PART;
#define CENTRE(k, c, whole)              \
  FETCH(v + (k), x + at, c, 0.0f, whole) \
  EACH_OF(u, UNIT) v[(k) + u] = ONLY_NEW(v[(k) + u] - centre, c, whole);
#define ADD_SQUARES(count) ADD_TO(squares, block_products(v, v, count))
    EACH_UNIT_OF_PART(CENTRE, ADD_SQUARES)
    const float all = PART_TOTAL(squares);
    if (LANE_ID == 0) {
      __global float* to = partial + partial_offset + 2 * (part * sizes.channels + channel);
      to[0] = mean;
      to[1] = all;
    }
  END_EACH
}

// `affine` holds AffineFlags.
EACH_ROW_KERNEL void batch_norm_apply(
    __global const STORED* restrict x, ulong x_offset, __global const float* restrict mean, ulong mean_offset, __global
    const float* restrict invstd, ulong invstd_offset, __global const PARAMETER* weight, ulong weight_offset,
    __global const PARAMETER* bias, ulong bias_offset, __global STORED* restrict y, ulong y_offset,
    BatchNormParameters sizes, int affine) {
  EACH_PIECE
    const long channel = row % sizes.channels;
    const float m = mean[mean_offset + channel];
    const float factor = affine & AFFINE_WEIGHT ? LOAD(PARAMETER, weight, weight_offset + channel) : 1.0f;
    const float scale = invstd[invstd_offset + channel] * factor;
    const float shift = affine & AFFINE_BIAS ? LOAD(PARAMETER, bias, bias_offset + channel) : 0.0f;
    __global const STORED* from = x + x_offset + row * sizes.spatial + begin;
    __global STORED* to = y + y_offset + row * sizes.spatial + begin;
#define WRITE(k, c, whole) \
  store_chunk((load_chunk(from, c, n, 1, 0.0f, whole) - m) * scale + shift, to, c, n, 1, whole);
    EACH_CHUNK(n, WRITE, NOTHING)
  END_EACH
}

// For each part: the sums of dy and of dy (x - mean).
EACH_ROW_KERNEL void batch_norm_backward_sums(
    __global const STORED* restrict dy, ulong dy_offset, __global const STORED* restrict x, ulong x_offset,
    __global const float* restrict mean, ulong mean_offset, __global float* restrict partial, ulong partial_offset,
    BatchNormParameters sizes) {
  ROW_SCRATCH;
  x += x_offset;
  dy += dy_offset;
  EACH_PART
    const float m = mean[mean_offset + channel];
    rowv v[BLOCK], w[BLOCK];
    PART_SUM sum = EMPTY_PART, products = EMPTY_PART;
#define TERMS(k, c, whole)                                    \
  FETCH(v + (k), dy + at, c, 0.0f, whole)                     \
  FETCH(w + (k), x + at, c, m, whole)                         \
  EACH_OF(u, UNIT) w[(k) + u] -= m;
#define ADD_TERMS(count)            \
  ADD_TO(sum, block_sum(v, count))  \
  ADD_TO(products, block_products(v, w, count))
    EACH_UNIT_OF_PART(TERMS, ADD_TERMS)
    const float all = PART_TOTAL(sum);
    const float all_products = PART_TOTAL(products);
    if (LANE_ID == 0) {
      __global float* to = partial + partial_offset + 2 * (part * sizes.channels + channel);
      to[0] = all;
      to[1] = all_products;
    }
  END_EACH
}

// Like batch_norm_apply. inverse_count is 1 / M, or 0 if mean and invstd are constants.
EACH_ROW_KERNEL void batch_norm_backward_apply(
    __global const STORED* restrict dy, ulong dy_offset, __global const STORED* restrict x, ulong x_offset,
    __global const float* restrict mean, ulong mean_offset, __global const float* restrict invstd, ulong invstd_offset,
    __global const PARAMETER* weight, ulong weight_offset, __global const float* restrict dweight, ulong dweight_offset,
    __global const float* restrict dbias, ulong dbias_offset, __global STORED* restrict dx, ulong dx_offset,
    BatchNormParameters sizes, int affine, float inverse_count) {
  EACH_PIECE
    const long channel = row % sizes.channels;
    const float m = mean[mean_offset + channel];
    const float inv = invstd[invstd_offset + channel];
    const float scale = inv * (affine & AFFINE_WEIGHT ? LOAD(PARAMETER, weight, weight_offset + channel) : 1.0f);
    const float level = dbias[dbias_offset + channel] * inverse_count;
    const float slope = inv * dweight[dweight_offset + channel] * inverse_count;
    __global const STORED* g = dy + dy_offset + row * sizes.spatial + begin;
    __global const STORED* from = x + x_offset + row * sizes.spatial + begin;
    __global STORED* to = dx + dx_offset + row * sizes.spatial + begin;
#define WRITE_GRADIENT(k, c, whole)                                                                            \
  {                                                                                                            \
    const rowv d = load_chunk(from, c, n, 1, 0.0f, whole) - m;                                                 \
    store_chunk((load_chunk(g, c, n, 1, 0.0f, whole) - level - d * slope) * scale, to, c, n, 1, whole);        \
  }
    EACH_CHUNK(n, WRITE_GRADIENT, NOTHING)
  END_EACH
}
