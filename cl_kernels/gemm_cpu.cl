// GEMM for CPUs: C = A * B (+ C) (+ bias), relu on request, fp32.
//
//   C[i][j] = sum over k of A[i][k] * B[k][j]        m x n, depth k, one problem per batch index
//
// 1. gemm_pack_a copies A into row panels [ceil(m / MR)][k][MR].
// 2. gemm_multiply: every work-item, a work-group of its own, takes units of work (batch index, block of block_n
//    columns, block of block_m rows) one after another. For each block of block_k rows of B it packs its part of B into
//    column panels [block_n / NR][block_k][NR] in its own slice of `scratch`, which stays in the L2 cache, and runs the
//    register tile MR x NR over all pairs of a row panel and a column panel.
//
// Where B and C come from is chosen by LOADER:
//   MATRIX  B[k][j] = b[k * b_row + j * b_column], one of the strides being 1; C[i][j] = c[i * c_row + j].
//   GATHER  B is the virtual im2col matrix of common/gather.h. C[i][j] lies in plane i of image j / pixels:
//           c[image * c_image + i * c_row + oh * c_h + ow * c_w]. Forward convolution and, with one launch for each
//           remainder of the pixel position by the stride, backward data.
//
// Shapes and strides are arguments. The matrices of a batch are a_batch (packed), b_batch, c_batch elements apart.
// flags: common/gemm_flags.h. bias may be any buffer when no flag asks for it.
#define MATRIX 0
#define GATHER 1
#ifndef LOADER
#define LOADER MATRIX
#endif

#include "common/gemm_tile.h"
#include "common/gemm_pack_a.h"
#include "common/transpose.h"
#include "common/gather.h"
#include "common/gemm_flags.h"

// Position of vector v of a row in a packed block of `depth` rows; row k is k * NR further on.
#define PANEL_AT(v, depth) (((v) / NV) * (long)(depth) * NR + ((v) % NV) * VW)

#if LOADER == MATRIX

// Rows of B are contiguous.
INLINE void pack_rows(__global float* dst, __global const float* b, long b_row, int depth, int columns) {
  const int vectors = (columns + VW - 1) / VW;
  for (int v = 0; v < (vectors + NV - 1) / NV * NV; ++v) {
    __global float* out = dst + PANEL_AT(v, depth);
    __global const float* in = b + v * VW;
    const int lanes = min(VW, columns - v * VW);
    if (lanes == VW) {
      for (int k = 0; k < depth; ++k) ALIGNED(out + k * NR) = UNALIGNED_CONST(in + k * b_row);
    } else {
      for (int k = 0; k < depth; ++k)
        for (int lane = 0; lane < VW; ++lane) out[k * NR + lane] = lane < lanes ? in[k * b_row + lane] : 0.0f;
    }
  }
}

// Columns of B are contiguous.
INLINE void pack_columns(__global float* dst, __global const float* b, long b_column, int depth, int columns) {
  const int vectors = (columns + VW - 1) / VW;
  for (int v = 0; v < (vectors + NV - 1) / NV * NV; ++v) {
    __global float* out = dst + PANEL_AT(v, depth);
    __global const float* in = b + v * VW * b_column;
    const int lanes = min(VW, columns - v * VW);
    int k = 0;
    if (lanes == VW) {
      for (; k + VW <= depth; k += VW) {
        floatv square[VW];
#pragma unroll
        for (int lane = 0; lane < VW; ++lane) square[lane] = UNALIGNED_CONST(in + lane * b_column + k);
        transpose_square(square);
#pragma unroll
        for (int lane = 0; lane < VW; ++lane) ALIGNED(out + (k + lane) * NR) = square[lane];
      }
    }
    for (; k < depth; ++k)
      for (int lane = 0; lane < VW; ++lane) out[k * NR + lane] = lane < lanes ? in[lane * b_column + k] : 0.0f;
  }
}

#endif

// What happens to a sum on its way to C. The bias of a column differs from lane to lane.
INLINE floatv finish(floatv sum, floatv bias, int flags) {
  sum += bias;
  return flags & RELU ? fmax(sum, (floatv)(0.0f)) : sum;
}

// Where the rows of a tile go: c is row 0, bias its own element or that of the block's first column.
typedef struct {
  __global float* c;
  long c_row;
  int rows, flags;
  __global const float* bias;
} Target;

// Writes one vector of columns of a tile to rows that are contiguous there, from element `at` of each on.
INLINE void store_vector(const floatv acc[MR * NV], int v, const Target* t, long at, __global const float* bias) {
#pragma unroll
  for (int i = 0; i < MR; ++i) {
    if (i < t->rows) {
      __global float* out = t->c + i * t->c_row + at;
      floatv b = (floatv)(0.0f);
      if (t->flags & BIAS_PER_ROW) b = (floatv)(bias[i]);
      if (t->flags & BIAS_PER_COLUMN) b = vloadv(0, bias);
      floatv sum = acc[i * NV + v];
      if (t->flags & ADD_TO_C) sum += UNALIGNED(out);
      UNALIGNED(out) = finish(sum, b, t->flags);
    }
  }
}

// The same where the columns are not contiguous or fewer than VW: lane l goes to element at[l] of each row.
INLINE void store_lanes(const floatv acc[MR * NV], int v, const Target* t, const long* at, int lanes,
                        __global const float* bias) {
  float tile[MR * VW];
#pragma unroll
  for (int i = 0; i < MR; ++i) vstorev(acc[i * NV + v], i, tile);
  for (int i = 0; i < t->rows; ++i)
    for (int lane = 0; lane < lanes; ++lane) {
      __global float* out = t->c + i * t->c_row + at[lane];
      float sum = tile[i * VW + lane];
      if (t->flags & ADD_TO_C) sum += *out;
      if (t->flags & BIAS_PER_ROW) sum += bias[i];
      if (t->flags & BIAS_PER_COLUMN) sum += bias[lane];
      *out = t->flags & RELU ? fmax(sum, 0.0f) : sum;
    }
}

// Vectors v0 … v0 + NV - 1 of a block of `columns` columns.
#if LOADER == MATRIX
INLINE void store_tile(const floatv acc[MR * NV], const Target* t, long column_first, int v0, int columns) {
#else
INLINE void store_tile(const floatv acc[MR * NV], const Target* t, __global const int* table, long c_image, int c_h,
                       int c_w, int pixels_w, int v0, int columns) {
#endif
#pragma unroll
  for (int v = 0; v < NV; ++v) {
    const int first = (v0 + v) * VW;
    const int lanes = min(VW, columns - first);
    if (lanes <= 0) continue;
    __global const float* bias = t->flags & BIAS_PER_COLUMN ? t->bias + first : t->bias;
    long at[VW];
#if LOADER == MATRIX
    for (int lane = 0; lane < lanes; ++lane) at[lane] = column_first + first + lane;
    const bool contiguous = lanes == VW;
#else
    __global const int* info = table + (v0 + v) * COLUMN_INTS;
    for (int lane = 0; lane < lanes; ++lane)
      at[lane] = info[COLUMN_IMAGE + lane] * c_image + info[COLUMN_OH + lane] * c_h + info[COLUMN_OW + lane] * c_w;
    const bool contiguous = c_w == 1 && c_h == pixels_w && lanes == VW && at[VW - 1] - at[0] == VW - 1;
#endif
    if (contiguous)
      store_vector(acc, v, t, at[0], bias);
    else
      store_lanes(acc, v, t, at, lanes, bias);
  }
}

CPU_KERNEL void gemm_multiply(
    __global const float* restrict packed, const ulong packed_offset, __global const float* restrict b,
    const ulong b_offset, __global float* restrict c, const ulong c_offset, __global const float* restrict bias,
    const ulong bias_offset, __global float* restrict scratch, const ulong scratch_offset, const int m, const long n,
    const int k, const int batch, const long a_batch, const long b_batch, const long c_batch, const long bias_batch,
    const long c_row,
#if LOADER == MATRIX
    const long b_row, const long b_column,
#else
    const int height, const int width, const int taps, const int taps_w, const int step_h, const int step_w,
    const int start_h, const int start_w, const int tap_h, const int tap_w, const int pixels, const int pixels_w,
    const long image, const long plane, const long b_size, const long c_image, const int c_h, const int c_w,
#endif
    const int block_m, const int block_n, const int block_k, const long slice, const int flags) {
  packed += packed_offset;
  b += b_offset;
  c += c_offset;
  bias += bias_offset;
  const long item = get_global_id(0);
  const long items = get_global_size(0);
  __global float* block = scratch + scratch_offset + item * slice;
#if LOADER == GATHER
  __global int* table = (__global int*)(block + (long)block_k * block_n);
#endif
  const long blocks_n = (n + block_n - 1) / block_n;
  const int blocks_m = (m + block_m - 1) / block_m;
  const long units = batch * blocks_n * blocks_m;
  for (long unit = units * item / items; unit < units * (item + 1) / items; ++unit) {
    const int row_first = (int)(unit % blocks_m) * block_m;
    const int row_end = min(m, row_first + block_m);
    const long column_first = unit / blocks_m % blocks_n * block_n;
    const int columns = (int)min((long)block_n, n - column_first);
    const int vectors = (columns + NR - 1) / NR * NV;
    const long index = unit / blocks_m / blocks_n;
#if LOADER == GATHER
    const Gather gather = {height,  width,   taps,   taps_w,   step_h, step_w, start_h, start_w,
                           tap_h,   tap_w,   pixels, pixels_w, n,      image,  plane,   b_size - index * b_batch};
    gather_columns(table, &gather, column_first, vectors);
#endif
    int k_first = 0;
    do {  // Also once when k is 0, so that C is written.
      const int depth = min(block_k, k - k_first);
#if LOADER == MATRIX
      __global const float* from = b + index * b_batch + k_first * b_row + column_first * b_column;
      if (b_column == 1)
        pack_rows(block, from, b_row, depth, columns);
      else
        pack_columns(block, from, b_column, depth, columns);
#else
      gather_rows(block, 1, NR, NV, (long)depth * NR, VW, b + index * b_batch, &gather, table, vectors, k_first,
                  k_first + depth);
#endif
      int now = k_first == 0 ? flags & ADD_TO_C : ADD_TO_C;
      if (k_first + depth >= k) now |= flags & ~ADD_TO_C;
      for (int v0 = 0; v0 < vectors; v0 += NV) {
        for (int row = row_first; row < row_end; row += MR) {
          floatv acc[MR * NV];
          tile_clear(acc);
          tile_multiply(acc, packed + index * a_batch + ((long)row * k + (long)k_first * MR),
                        block + PANEL_AT(v0, depth), depth);
          const Target target = {c + index * c_batch + row * c_row, c_row, min(MR, row_end - row), now,
                                 bias + index * bias_batch + (flags & BIAS_PER_COLUMN ? column_first : row)};
#if LOADER == MATRIX
          store_tile(acc, &target, column_first, v0, columns);
#else
          store_tile(acc, &target, table, c_image, c_h, c_w, pixels_w, v0, columns);
#endif
        }
      }
      k_first += block_k;
    } while (k_first < k);
  }
}
