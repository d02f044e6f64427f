// Stores the register tile of product/cpu/gemm_tile.h: MR rows times NV vectors of C = f(sum (+ C) (+ bias)).
#include "product/cpu/gemm_tile.h"
#include "common/load_some.h"
#include "product/cpu/gather.h"
#include "product/epilogue.h"

DEFINE_FINISH(floatv, finish_vector)
#ifdef RESULT_IS_FLOAT
#define load_some_results load_some
#else
DEFINE_LOAD_SOME(load_some_results, RESULT)
#endif

// The destination of a tile of results.
typedef struct {
  __global RESULT* c;  // The start of the tile's first row.
  long c_row;
  int row, rows, flags;
  __global const RESULT* bias;  // The bias of the tile's first row or of the block's first column.
} Target;

// Loads VW elements of an operand of the epilogue, from element (row, at) on.
INLINE floatv load_operand(__global const RESULT* e, long row, long column, const Target* t, int i, long first,
                           const int to[VW], int lanes, bool contiguous) {
  e += (t->row + i) * row;
  if (column == 0) return (floatv)(LOAD(RESULT, e, 0));
  if (contiguous) return LOAD_MANY(RESULT, e + first);
  float values[VW];
  NO_UNROLL
  for (int lane = 0; lane < VW; ++lane) values[lane] = LOAD(RESULT, e, first + to[min(lane, lanes - 1)]);
  return vloadv(0, values);
}

// Stores one vector of `lanes` columns of a tile. Row i of the tile is tile[i * step] and goes to row i of C. Its
// elements go to the elements from `first` on, or to the positions in `info`, which product/cpu/gather.h describes.
INLINE void store_columns(const floatv* tile, int step, const Target* t, const Finish* finish,
                          __global const int* info, long first, int lanes, __global const RESULT* bias) {
  const int flags = t->flags;
  bool contiguous = lanes == VW;
  if (flags & GATHERED) {
    first = COLUMN_TO_FIRST(info);
    contiguous = contiguous && info[COLUMN_TO_RUN];
  }
  floatv column_bias = (floatv)(0.0f);
  if (flags & BIAS_PER_COLUMN) column_bias = lanes == VW ? LOAD_MANY(RESULT, bias) : load_some_results(bias, lanes, 1);
  if (contiguous && !(flags & (ADD_E0 | SNIPPET))) {  // Most tiles take this branch. A shallow product does little else
                                                      // than this loop.
    const floatv least = (floatv)(flags & RELU ? 0.0f : -INFINITY);
    __global RESULT* out = t->c + first;
    NO_UNROLL
    for (int i = 0; i < t->rows; ++i, out += t->c_row) {
      floatv sum = tile[i * step] + column_bias + (flags & BIAS_PER_ROW ? LOAD(RESULT, t->bias, i) : 0.0f);
      if (flags & ADD_TO_C) sum += LOAD_MANY(RESULT, out);
      STORE_MANY(RESULT, out, sum < least ? least : sum);
    }
    return;
  }
  int to[VW];
  vstorev(flags & GATHERED ? vloadv(0, info + COLUMN_TO) : LANES, 0, to);
  NO_UNROLL
  for (int i = 0; i < t->rows; ++i) {
    __global RESULT* out = t->c + i * t->c_row + first;
    floatv sum = tile[i * step] + column_bias;
    if (flags & BIAS_PER_ROW) sum += LOAD(RESULT, t->bias, i);
    if (flags & ADD_TO_C) {
      if (contiguous) {
        sum += LOAD_MANY(RESULT, out);
      } else {
        float old[VW];
        NO_UNROLL
        for (int lane = 0; lane < VW; ++lane) old[lane] = LOAD(RESULT, out, to[min(lane, lanes - 1)]);
        sum += vloadv(0, old);
      }
    }
    floatv first_operand = sum, second_operand = sum;
    if (READS_E0(flags))
      first_operand = load_operand(finish->e0, finish->row0, finish->column0, t, i, first, to, lanes, contiguous);
    if (READS_E1(flags))
      second_operand = load_operand(finish->e1, finish->row1, finish->column1, t, i, first, to, lanes, contiguous);
    sum = finish_vector(sum, first_operand, second_operand, finish, flags);
    if (contiguous) {
      STORE_MANY(RESULT, out, sum);
    } else {
      float values[VW];
      vstorev(sum, 0, values);
      NO_UNROLL
      for (int lane = 0; lane < lanes; ++lane) STORE(RESULT, out, to[lane], values[lane]);
    }
  }
}

// Prefetches the first `columns` elements of some rows of C while the tile that is added to them is computed.
INLINE void prefetch_rows(__global const RESULT* c, long c_row, int rows, int columns) {
  NO_UNROLL
  for (int i = 0; i < rows; ++i, c += c_row)
    NO_UNROLL
    for (int column = 0; column < columns; column += 16) PREFETCH(c + column);
}

// Finds the positions in C of the vectors v0 … v0 + NV - 1 of a block's columns. Returns true if all these vectors are
// whole and contiguous.
INLINE bool find_whole(long to[NV], const Target* t, __global const int* table, long column_first, int v0, int columns) {
  bool whole = (v0 + NV) * VW <= columns;
#pragma unroll
  for (int v = 0; v < NV; ++v) {
    __global const int* info = table + (v0 + v) * COLUMN_INTS;
    to[v] = column_first + (v0 + v) * VW;
    if (t->flags & GATHERED) {
      to[v] = COLUMN_TO_FIRST(info);
      whole = whole && info[COLUMN_TO_RUN];
    }
  }
  return whole;
}

// Stores the vectors v0 … v0 + NV - 1 of a block of `columns` columns. Whole tiles are stored to C directly, because
// the store is half of the time of a shallow product. Other tiles are copied to an array first, so that one loop stores
// them. Unrolled, this loop would be most of the kernel.
INLINE void store_tile(const floatv acc[MR * NV], const Target* t, const Finish* finish, __global const int* table,
                       long column_first, int v0, int columns) {
  long to[NV];
  const bool simple = !(t->flags & (ADD_TO_C | ADD_E0 | SNIPPET | BIAS_PER_COLUMN)) && t->rows == MR;
  if (simple && find_whole(to, t, table, column_first, v0, columns)) {
    const floatv least = (floatv)(t->flags & RELU ? 0.0f : -INFINITY);
#pragma unroll
    for (int i = 0; i < MR; ++i) {
      const floatv shift = (floatv)(t->flags & BIAS_PER_ROW ? LOAD(RESULT, t->bias, i) : 0.0f);
#pragma unroll
      for (int v = 0; v < NV; ++v) {
        const floatv sum = acc[i * NV + v] + shift;
        STORE_MANY(RESULT, t->c + i * t->c_row + to[v], sum < least ? least : sum);
      }
    }
    return;
  }
  floatv tile[MR * NV];
#pragma unroll
  for (int i = 0; i < MR * NV; ++i) tile[i] = acc[i];
  NO_UNROLL
  for (int v = 0; v < NV; ++v) {
    const int column = (v0 + v) * VW;  // Counted within the block.
    if (column >= columns) break;
    store_columns(tile + v, NV, t, finish, table + (v0 + v) * COLUMN_INTS, column_first + column,
                  min(VW, columns - column), t->bias + (t->flags & BIAS_PER_COLUMN ? column : 0));
  }
}
