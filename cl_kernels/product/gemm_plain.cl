// GEMM that runs on every device: C = f(A * B (+ C) (+ bias)), any strides, summed in fp32; f is as in
// product/epilogue.h. A and B are stored as A_STORAGE and B_STORAGE say (product/gpu/storage.h): as f32 if left out.
//
//   C[i][j] = sum over k of A[i][k] * B[k][j]        m x n, depth k, one problem per batch index
//   A[i][k] = a[batch * from_a.batch + i * from_a.row + k * from_a.column], B and C likewise; bias as product/gemm_flags.h says.
//
// A work-group of GROUP x GROUP work-items computes a tile of SIDE x SIDE (SIDE = GROUP * PER). It reads slices of A
// and B from local memory (2 * GROUP * (SIDE + 1) floats). Work-item (x, y) owns rows y, y + GROUP, … and columns x, x
// + GROUP, …
// Tiles and batch indices share dimension 0, because some devices limit the others to 65,535 groups.
#include "product/gpu/storage.h"
#include "product/target.h"
#include "common/fma.h"

#ifndef A_STORAGE
#define A_STORAGE STORAGE_F32
#endif
#ifndef B_STORAGE
#define B_STORAGE STORAGE_F32
#endif

#ifndef GROUP
#define GROUP 16
#endif
#ifndef PER
#define PER 4
#endif
#define SIDE (GROUP * PER)

// Copies a tile of a matrix to tile[column][row]: the rows from `first` on, and GROUP columns from k on. Elements
// beyond `count` rows or beyond the depth become zeros. Neighbouring work-items read neighbouring elements, whether
// rows or columns are contiguous.
static inline void load_tile(__local float tile[GROUP][SIDE + 1], __global const char* from, int storage,
                             long row_stride, long column_stride, long first, long count, long k, long depth) {
  const int id = get_local_id(1) * GROUP + get_local_id(0);
#pragma unroll
  for (int part = 0; part < PER; ++part) {
    const int e = part * GROUP * GROUP + id;
    const int row = row_stride == 1 ? e % SIDE : e / GROUP;
    const int column = row_stride == 1 ? e / SIDE : e % GROUP;
    const bool inside = first + row < count && k + column < depth;
    const long place = (first + row) * row_stride + (k + column) * column_stride;
    tile[column][row] = inside ? stored_value(from + place * STORED_BYTES(storage), storage) : 0.0f;
  }
}

__kernel __attribute__((reqd_work_group_size(GROUP, GROUP, 1))) void gemm_plain(
    __global const char* restrict a, const ulong a_offset, __global const char* restrict b, const ulong b_offset,
    __global RESULT* restrict c, const ulong c_offset, __global const RESULT* restrict bias, const ulong bias_offset,
    EPILOGUE_PARAMETERS, const ProductParameters product, const StridedParameters from_a,
    const StridedParameters from_b, const ResultParameters to) {
  __local float tile_a[GROUP][SIDE + 1];
  __local float tile_b[GROUP][SIDE + 1];
  const long m = product.m, n = product.n, k = product.k;
  const long tiles_m = (m + SIDE - 1) / SIDE;
  const long tiles_n = (n + SIDE - 1) / SIDE;
  const long tile = get_group_id(0);
  const long column_first = tile % tiles_n * SIDE;
  const long row_first = tile / tiles_n % tiles_m * SIDE;
  const long index = tile / tiles_n / tiles_m;
  // The group has two dimensions, because Intel's CPU runtime miscompiles id % GROUP and id / GROUP of a
  // one-dimensional group.
  const int x = get_local_id(0);
  const int y = get_local_id(1);
  a += (a_offset + index * from_a.batch) * STORED_BYTES(A_STORAGE);
  b += (b_offset + index * from_b.batch) * STORED_BYTES(B_STORAGE);
  const Target target = {c + c_offset + index * to.batch, bias + bias_offset, to.row, to.column, product.flags};
  const Finish finish = FINISH_OF(index);

  float acc[PER][PER];
#pragma unroll
  for (int i = 0; i < PER; ++i)
#pragma unroll
    for (int j = 0; j < PER; ++j) acc[i][j] = 0.0f;
  for (long first = 0; first < k; first += GROUP) {
    load_tile(tile_a, a, A_STORAGE, from_a.row, from_a.column, row_first, m, first, k);
    load_tile(tile_b, b, B_STORAGE, from_b.column, from_b.row, column_first, n, first, k);
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int at = 0; at < GROUP; ++at) {
      float row[PER], column[PER];
#pragma unroll
      for (int i = 0; i < PER; ++i) row[i] = tile_a[at][y + i * GROUP];
#pragma unroll
      for (int j = 0; j < PER; ++j) column[j] = tile_b[at][x + j * GROUP];
#pragma unroll
      for (int i = 0; i < PER; ++i)
#pragma unroll
        for (int j = 0; j < PER; ++j) acc[i][j] = FMA(row[i], column[j], acc[i][j]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
#pragma unroll
  for (int i = 0; i < PER; ++i)
#pragma unroll
    for (int j = 0; j < PER; ++j) {
      const long row = row_first + y + i * GROUP;
      const long column = column_first + x + j * GROUP;
      if (row < m && column < n) store_sums(acc[i][j], row, column, &target, &finish);
    }
}
