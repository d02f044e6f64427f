// Products of rows of STORED with rows of STORED for CPUs, computed in fp32, for a large depth and few results:
//
//   C[i][j] = f(sum over k of A[i][k] * B[j][k] (+ C) (+ bias))        m x n, one problem a batch index
//
// f is as in product/epilogue.h.
//
// Every work-item is a work-group of its own and takes units of work: batch index, part of the depth ("split"), block
// of block_n rows of B, block of block_m rows of A. It copies block_k elements of each row into its own slice of
// `scratch`, in panels [block_k / VW][DOT_M or DOT_N rows][VW]. Then it runs the tile DOT_M x DOT_N over all pairs of
// panels. block_m is a multiple of DOT_M, block_n of DOT_N, block_k of VW.
//
// With more than one split, C is a workspace [splits][batch][m][n]. gemm_dot_parts adds the splits in their order,
// so every run gives the same bits.
//
// A flag chooses at run time where the rows come from, because two programs would take twice as long to compile:
//   (none)    A[i][k] = a[i * from_a.leading_dimension + k], B[j][k] = b[j * from_b.leading_dimension + k].
//   GATHERED  Backward weights of a convolution; k runs over the pixels of all images. A is dy, one row for each output
//             channel. B is the virtual im2col matrix of cpu/gather.h, made from x, one row for each (channel, r,
//             s).
#include "product/cpu/dot_tile.h"
#include "product/cpu/gather.h"
#include "product/cpu/part_flags.h"
#include "product/target.h"

INLINE void copy_rows(__global float* dst, int tile, int vectors, __global const STORED* src, long row_stride, int rows,
                      int depth) {
  NO_UNROLL
  for (int i = 0; i < rows; ++i, src += row_stride) {
    __global float* out = dst + (i / tile * vectors * tile + i % tile) * VW;
    int k = 0;
    NO_UNROLL
    for (; k + VW <= depth; k += VW) ALIGNED(out + k * tile) = LOAD_MANY(STORED, src + k);
    if (k < depth) {
      NO_UNROLL
      for (int lane = 0; lane < VW; ++lane)
        out[k * tile + lane] = k + lane < depth ? LOAD(STORED, src, k + lane) : 0.0f;
    }
  }
}

// With GATHERED: copies rows of an operand to panels, `count` rows from `first` on. Of each row it copies the pixels
// from k_first on, `vectors` vectors. src is `skipped` elements after the first element of the images.
INLINE void gather_operand(__global float* dst, int tile, __global int* table, __global const STORED* src, int first,
                           int count, const GatherParameters* images, const ColumnParameters* pixels, long skipped,
                           long k_first, long k_end, int vectors) {
  const Gather gather = GATHER_OF(*images, *pixels, k_end, images->size - skipped);
  gather_columns(table, &gather, k_first, vectors);
  gather_rows(dst, tile, (long)vectors * tile * VW, 1, tile * VW, 0, src, &gather, table, vectors, first,
              first + count);
}

// Multiplies `rows` rows of A with `columns` rows of B. Their panels are `vectors` vectors deep. The sums go to C, from
// row_first and column_first on.
INLINE void multiply_block(__global const float* a, __global const float* b, int vectors, int row_first, int rows,
                           int column_first, int columns, const Target* target, const Finish* finish) {
  NO_UNROLL
  for (int i0 = 0; i0 < rows; i0 += DOT_M) {  // These rows of A stay in the L1 cache while the loop goes through all
                                              // rows of B.
    NO_UNROLL
    for (int j0 = 0; j0 < columns; j0 += DOT_N) {
      float sums[DOT_SUMS];
      dot_tile(sums, a + i0 * vectors * VW, b + j0 * vectors * VW, vectors);
      NO_UNROLL
      for (int i = 0; i < min(DOT_M, rows - i0); ++i) {
        NO_UNROLL
        for (int j = 0; j < min(DOT_N, columns - j0); ++j)
          store_sums(sums[i * DOT_N + j], row_first + i0 + i, column_first + j0 + j, target, finish);
      }
    }
  }
}

CPU_KERNEL void gemm_dot(__global const STORED* restrict a, const ulong a_offset, __global const STORED* restrict b,
                         const ulong b_offset, __global RESULT* restrict c, const ulong c_offset,
                         __global const RESULT* restrict bias, const ulong bias_offset,
                         __global float* restrict scratch, const ulong scratch_offset, EPILOGUE_PARAMETERS,
                         const CpuProductParameters product, const MatrixParameters from_a,
                         const MatrixParameters from_b, const ResultParameters to, const GatherParameters images_a,
                         const GatherParameters images_b, const ColumnParameters pixels) {
  a += a_offset;
  b += b_offset;
  const long item = get_global_id(0), items = get_global_size(0);
  const int m = (int)product.m, n = (int)product.n, splits = product.split_k, flags = product.flags;
  const int block_m = product.block_m, block_n = product.block_n, block_k = product.block_k;
  const long k = product.k;
  __global float* part_a = scratch + scratch_offset + item * product.slice;
  __global float* part_b = part_a + (long)block_m * block_k;
  __global int* table = (__global int*)(part_b + (long)block_n * block_k);
  const int blocks_m = (m + block_m - 1) / block_m;
  const int blocks_n = (n + block_n - 1) / block_n;
  const long units = (long)product.batch * splits * blocks_n * blocks_m;
  NO_UNROLL
  for (long unit = units * item / items; unit < units * (item + 1) / items; ++unit) {
    const int row_first = (int)(unit % blocks_m) * block_m;
    const int rows = min(block_m, m - row_first);
    const int column_first = (int)(unit / blocks_m % blocks_n) * block_n;
    const int columns = min(block_n, n - column_first);
    const long split = unit / blocks_m / blocks_n % splits;
    const long index = unit / blocks_m / blocks_n / splits;
    const long k_end = k * (split + 1) / splits;
    const Finish finish = FINISH_OF(index);
    long k_first = k * split / splits;
    bool is_first = true;
    do {  // Runs once even if the depth is 0, so that C is written.
      const int depth = (int)min((long)block_k, k_end - k_first);
      const int vectors = (depth + VW - 1) / VW;
      // Both operands use the same code. Two copies of the code would be half of the kernel.
      NO_UNROLL
      for (int side = 0; side < 2; ++side) {
        const int tile = side == 0 ? DOT_M : DOT_N;
        const int first = side == 0 ? row_first : column_first;
        const int count = side == 0 ? rows : columns;
        __global float* part = side == 0 ? part_a : part_b;
        __global const STORED* from = side == 0 ? a + index * from_a.batch : b + index * from_b.batch;
        if (flags & GATHERED) {
          gather_operand(part, tile, table, from, first, count, side == 0 ? &images_a : &images_b, &pixels,
                         index * (side == 0 ? from_a.batch : from_b.batch), k_first, k_end, vectors);
        } else {
          const long step = side == 0 ? from_a.leading_dimension : from_b.leading_dimension;
          copy_rows(part, tile, vectors, from + first * step + k_first, step, count, depth);
        }
      }
      k_first += block_k;
      const Target target = {c + c_offset + split * to.part + index * to.batch, bias + bias_offset, to.row, to.column,
                             flags_of_part(flags, is_first, k_first >= k_end)};
      multiply_block(part_a, part_b, vectors, row_first, rows, column_first, columns, &target, &finish);
      is_first = false;
    } while (k_first < k_end);
  }
}

// C = f(the parts [splits][batch][m][n], added in order, (+ C) (+ bias)). A unit of work is VW neighbouring columns.
CPU_KERNEL void gemm_dot_parts(__global const float* restrict parts, const ulong parts_offset,
                                  __global RESULT* restrict c, const ulong c_offset, __global const RESULT* restrict bias,
                                  const ulong bias_offset, EPILOGUE_PARAMETERS, const PartsParameters p) {
  parts += parts_offset;
  c += c_offset;
  bias += bias_offset;
  const long item = get_global_id(0);
  const long items = get_global_size(0);
  const int m = (int)p.m, n = (int)p.n, splits = p.split_k;
  const long rows = p.batch * m;
  const int blocks = (n + VW - 1) / VW;
  const long units = rows * blocks;
  NO_UNROLL
  for (long unit = units * item / items; unit < units * (item + 1) / items; ++unit) {
    const long row = unit / blocks;
    const int column = (int)(unit % blocks) * VW;
    const int lanes = min(VW, n - column);
    const long index = row / m;
    const int i = (int)(row % m);
    const Finish finish = FINISH_OF(index);
    const Target target = {c + index * p.c_batch, bias + index * p.bias_batch, p.c_row, p.c_column, p.flags};
    __global const float* part = parts + row * n + column;
    float sums[VW];
    if (lanes == VW) {
      floatv sum = vloadv(0, part);
      NO_UNROLL
      for (int split = 1; split < splits; ++split) sum += vloadv(0, part + split * rows * n);
      vstorev(sum, 0, sums);
    } else {
      NO_UNROLL
      for (int lane = 0; lane < lanes; ++lane) {
        sums[lane] = part[lane];
        NO_UNROLL
        for (int split = 1; split < splits; ++split) sums[lane] += part[split * rows * n + lane];
      }
    }
    NO_UNROLL
    for (int lane = 0; lane < lanes; ++lane) store_sums(sums[lane], i, column + lane, &target, &finish);
  }
}
