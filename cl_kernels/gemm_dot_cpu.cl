// Products of rows with rows for CPUs, fp32, made for a large depth and few results:
//
//   C[i][j] = sum over k of A[i][k] * B[j][k]  (+ C) (+ bias), relu on request        m x n, one problem a batch index
//
// Every work-item, a work-group of its own, takes units of work: batch index, part of the depth ("split"), block of
// block_n rows of B, block of block_m rows of A. It copies block_k elements of the rows of both into its own slice of
// `scratch`, in panels [block_k / VW][DOT_M or DOT_N rows][VW], and runs the tile DOT_M x DOT_N over all pairs. block_m
// is a multiple of DOT_M, block_n of DOT_N, block_k of VW. With more than one split, C is a
// workspace [splits][batch][m][n] that gemm_sum_partials adds up in the order of the splits, so that the result has the
// same bits on every run, whatever ran beside it.
//
// LOADER chooses where the rows come from:
//   MATRIX  A[i][k] = a[i * a_row + k], B[j][k] = b[j * b_row + k].
//   GATHER  Backward weights of a convolution: k runs over the pixels of all images of dy (A: dy, one row for an output
//           channel) and of the virtual im2col matrix of common/gather.h (B: x, one row for a (channel, r, s)).
#define MATRIX 0
#define GATHER 1
#ifndef LOADER
#define LOADER MATRIX
#endif

#include "common/dot_tile.h"
#include "common/gather.h"
#include "common/gemm_flags.h"

#if LOADER == MATRIX

INLINE void copy_rows(__global float* dst, int tile, int vectors, __global const float* src, long row_stride, int rows,
                      int depth) {
  for (int i = 0; i < rows; ++i, src += row_stride) {
    __global float* out = dst + (i / tile * vectors * tile + i % tile) * VW;
    int k = 0;
    for (; k + VW <= depth; k += VW) ALIGNED(out + k * tile) = UNALIGNED_CONST(src + k);
    if (k < depth)
      for (int lane = 0; lane < VW; ++lane) out[k * tile + lane] = k + lane < depth ? src[k + lane] : 0.0f;
  }
}

#else

// Rows in panels of `tile`, as the tile wants them.
INLINE void gather_panels(__global float* dst, int tile, __global const float* src, const Gather* g,
                          __global int* table, long column, int vectors, int first, int end) {
  gather_columns(table, g, column, vectors);
  gather_rows(dst, tile, (long)vectors * tile * VW, 1, tile * VW, 0, src, g, table, vectors, first, end);
}

#endif

INLINE float finish_sum(float sum, float old, __global const float* bias, int i, long j, int flags) {
  if (flags & ADD_TO_C) sum += old;
  if (flags & BIAS_PER_ROW) sum += bias[i];
  if (flags & BIAS_PER_COLUMN) sum += bias[j];
  return flags & RELU ? fmax(sum, 0.0f) : sum;
}

CPU_KERNEL void gemm_dot(__global const float* restrict a, const ulong a_offset, __global const float* restrict b,
                         const ulong b_offset, __global float* restrict c, const ulong c_offset,
                         __global const float* restrict bias, const ulong bias_offset,
                         __global float* restrict scratch, const ulong scratch_offset, const int m, const int n,
                         const long k, const int batch, const int splits, const long a_batch, const long b_batch,
                         const long c_batch, const long bias_batch, const long c_split, const long c_row,
                         const long c_column,
#if LOADER == MATRIX
                         const long a_row, const long b_row,
#else
                         const int height, const int width, const int taps, const int taps_w, const int step_h,
                         const int step_w, const int start_h, const int start_w, const int tap_h, const int tap_w,
                         const int out_h, const int out_w, const long a_image, const long a_size, const long b_image,
                         const long b_size,
#endif
                         const int block_m, const int block_n, const int block_k, const long slice, const int flags) {
  a += a_offset;
  b += b_offset;
  c += c_offset;
  bias += bias_offset;
  const long item = get_global_id(0);
  const long items = get_global_size(0);
  __global float* part_a = scratch + scratch_offset + item * slice;
  __global float* part_b = part_a + (long)block_m * block_k;
#if LOADER == GATHER
  __global int* table = (__global int*)(part_b + (long)block_n * block_k);
#endif
  const int blocks_m = (m + block_m - 1) / block_m;
  const int blocks_n = (n + block_n - 1) / block_n;
  const long units = (long)batch * splits * blocks_n * blocks_m;
  for (long unit = units * item / items; unit < units * (item + 1) / items; ++unit) {
    const int row_first = (int)(unit % blocks_m) * block_m;
    const int rows = min(block_m, m - row_first);
    const int column_first = (int)(unit / blocks_m % blocks_n) * block_n;
    const int columns = min(block_n, n - column_first);
    const long split = unit / blocks_m / blocks_n % splits;
    const long index = unit / blocks_m / blocks_n / splits;
    const long k_end = k * (split + 1) / splits;
    long k_first = k * split / splits;
    int now = flags & ADD_TO_C;
    do {  // Also once when there is no k, so that C is written.
      const int depth = (int)min((long)block_k, k_end - k_first);
      const int vectors = (depth + VW - 1) / VW;
#if LOADER == MATRIX
      copy_rows(part_a, DOT_M, vectors, a + index * a_batch + row_first * a_row + k_first, a_row, rows, depth);
      copy_rows(part_b, DOT_N, vectors, b + index * b_batch + column_first * b_row + k_first, b_row, columns, depth);
#else
      const int pixels = out_h * out_w;
      const Gather gather_a = {out_h, out_w,  1,     1,           1,       1,      0,
                               0,     0,      0,     pixels,      out_w,   k_end,  a_image,
                               pixels, a_size - index * a_batch};
      const Gather gather_b = {height,  width, taps,  taps_w, step_h, step_w,  start_h,
                               start_w, tap_h, tap_w, pixels, out_w,  k_end, b_image,
                               (long)height * width, b_size - index * b_batch};
      gather_panels(part_a, DOT_M, a + index * a_batch, &gather_a, table, k_first, vectors, row_first,
                    row_first + rows);
      gather_panels(part_b, DOT_N, b + index * b_batch, &gather_b, table, k_first, vectors, column_first,
                    column_first + columns);
#endif
      k_first += block_k;
      if (k_first >= k_end) now |= flags & ~ADD_TO_C;
      for (int i0 = 0; i0 < rows; i0 += DOT_M) {  // These rows stay in the L1 cache while the others pass.
        for (int j0 = 0; j0 < columns; j0 += DOT_N) {
          float sums[DOT_SUMS];
          dot_tile(sums, part_a + i0 * vectors * VW, part_b + j0 * vectors * VW, vectors);
          for (int i = 0; i < min(DOT_M, rows - i0); ++i)
            for (int j = 0; j < min(DOT_N, columns - j0); ++j) {
              const int row = row_first + i0 + i;
              const long column = column_first + j0 + j;
              __global float* out = c + split * c_split + index * c_batch + row * c_row + column * c_column;
              *out = finish_sum(sums[i * DOT_N + j], now & ADD_TO_C ? *out : 0.0f, bias + index * bias_batch, row,
                                column, now);
            }
        }
      }
      now |= ADD_TO_C;
    } while (k_first < k_end);
  }
}

// C (+)= the partials [splits][batch][m][n], added in order; one unit of work is VW neighbouring columns.
CPU_KERNEL void gemm_sum_partials(__global const float* restrict partials, const ulong partials_offset,
                                  __global float* restrict c, const ulong c_offset, __global const float* restrict bias,
                                  const ulong bias_offset, const int m, const int n, const int batch, const int splits,
                                  const long c_batch, const long bias_batch, const long c_row, const long c_column,
                                  const int flags) {
  partials += partials_offset;
  c += c_offset;
  bias += bias_offset;
  const long item = get_global_id(0);
  const long items = get_global_size(0);
  const long rows = (long)batch * m;
  const int blocks = (n + VW - 1) / VW;
  const long units = rows * blocks;
  for (long unit = units * item / items; unit < units * (item + 1) / items; ++unit) {
    const long row = unit / blocks;
    const int column = (int)(unit % blocks) * VW;
    const int lanes = min(VW, n - column);
    __global const float* part = partials + row * n + column;
    float sums[VW];
    if (lanes == VW) {
      floatv sum = vloadv(0, part);
      for (int split = 1; split < splits; ++split) sum += vloadv(0, part + split * rows * n);
      vstorev(sum, 0, sums);
    } else {
      for (int lane = 0; lane < lanes; ++lane) {
        sums[lane] = part[lane];
        for (int split = 1; split < splits; ++split) sums[lane] += part[split * rows * n + lane];
      }
    }
    const long index = row / m;
    const int i = (int)(row % m);
    for (int lane = 0; lane < lanes; ++lane) {
      __global float* out = c + index * c_batch + i * c_row + (column + lane) * c_column;
      *out = finish_sum(sums[lane], flags & ADD_TO_C ? *out : 0.0f, bias + index * bias_batch, i, column + lane, flags);
    }
  }
}
