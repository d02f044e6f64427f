// y0[i], y1[i], … = f(x0[i], x1[i], …, s0, s1, …) for every index i of the outputs: any expression graph of pointwise ops.
//
// The prelude (lib/ops/pointwise/pointwise_kernels.cpp) turns this file into the kernels of one graph:
//   EACH_INPUT(M), EACH_OUTPUT(M), EACH_SCALAR(M)   M(k, element type, register type) for each; see common/element.h
//   CALL(f)                                         f(x0, x1, …, s0, …, &y0, …)
//   of_vector, or of_one for `items`                f
// Defines choose one of the kernels, because compiling all of them takes as long as compiling several programs:
//   (nothing)            flat         all operands contiguous
//   ROWS                 rows         any strides, for CPUs, if the last axis has VW elements or more
//   SHORT_ROWS           short_rows   any strides, for CPUs
//   ITEMS                items        any strides, for GPUs
//   ITEM_VECTORS         item_vectors   for GPUs, if every operand is contiguous or repeated along the last axis
// Further defines:
//   VW              the number of lanes of a vector
//   RANK            the largest number of axes: 2, 4 or 8
//   INDEX           for items: uint if every index and offset fits into it, else ulong
//   IN_PLACE        an input may be an output
//   WHOLE_VECTORS   see common/element.h
//   STREAM          for flat and rows: stores bypass the caches. The outputs begin with whole vectors, and the chunks
//                   are whole vectors too. In rows, the rows of the outputs are whole vectors, one row after another.
//   PAIRS           with STREAM: all operands are bfloats; see pointwise/stream.h
//
// flat         a work-item takes `chunk` elements. On a CPU few items take long chunks. On a GPU a chunk is one vector.
// rows         a work-item takes `chunk` elements, row by row (along the last axis), and computes indices once a row.
//              If a row does not end with a whole vector, the last vector starts earlier and computes some elements
//              again. This does no harm unless the op works in place.
// short_rows   like rows, but a vector takes elements of several rows and computes their positions one by one. items
// a work-item takes one element.
// item_vectors a work-item takes VW elements of a row. The row's length and its positions in all operands are multiples
// of VW. Strides count elements. They have the same order as `shape`, outermost axis first.
#ifndef EACH_INPUT
#define EACH_INPUT(M) M(0, float, float)
#define EACH_OUTPUT(M) M(0, float, float)
#define EACH_SCALAR(M)
#define CALL(f) f(x0, &y0)
#include "common/vector.h"
INLINE void of_vector(const floatv x0, floatv* y0) { *y0 = x0; }
INLINE void of_one(const float x0, float* y0) { *y0 = x0; }
#endif
#ifndef RANK
#define RANK 8
#endif
#ifndef INDEX
#define INDEX ulong
#endif
#include "common/element.h"
#ifdef IN_PLACE
#define RESTRICT
#else
#define RESTRICT restrict
#endif
#define AXES JOIN(long, RANK)

// Parameters. p is the memory of an input, q the memory of an output.
#define INPUT(k, type, R) __global const type *RESTRICT p##k, const ulong p##k##_offset,
#define OUTPUT(k, type, R) __global type *RESTRICT q##k, const ulong q##k##_offset,
#define SCALAR(k, type, R) const R s##k,
#define INPUT_STRIDES(k, type, R) const AXES p##k##_strides,
#define INPUT_NAMES(k, type, R) p##k, p##k##_offset,
#define OUTPUT_NAMES(k, type, R) q##k, q##k##_offset,
#define SCALAR_NAME(k, type, R) s##k,
#define STRIDES_NAME(k, type, R) p##k##_strides,
#define SHIFT_INPUT(k, type, R) p##k += p##k##_offset;
#define SHIFT_OUTPUT(k, type, R) q##k += q##k##_offset;

// Variables. x is the value of an input, y the value of an output.
#define INPUT_VECTOR(k, type, R) JOIN(R, VW) x##k;
#define OUTPUT_VECTOR(k, type, R) JOIN(R, VW) y##k;

#include "pointwise/stream.h"

#if !defined(ROWS) && !defined(SHORT_ROWS) && !defined(ITEMS) && !defined(ITEM_VECTORS)

#define READ_INPUT(k, type, R) x##k = LOAD_V(type, R, p##k, at);
#define LOAD_END(k, type, R) LOAD_LANES(type, R, x##k, p##k, at, 1, left)
#define STORE_END(k, type, R) STORE_LANES(type, R, q##k, at, 1, left, y##k)
#ifdef STREAM
#define WRITE_OUTPUT(k, type, R) STREAM_V(type, q##k + at, y##k);
#else
#define WRITE_OUTPUT(k, type, R) STORE_V(type, q##k, at, y##k);
#endif

#define FLAT_PARAMETERS EACH_INPUT(INPUT) EACH_OUTPUT(OUTPUT) EACH_SCALAR(SCALAR) const long n, const long chunk
#define FLAT_ARGUMENTS EACH_INPUT(INPUT_NAMES) EACH_OUTPUT(OUTPUT_NAMES) EACH_SCALAR(SCALAR_NAME) n, chunk

VECTOR_KERNEL void flat(FLAT_PARAMETERS) {
  EACH_INPUT(SHIFT_INPUT)
  EACH_OUTPUT(SHIFT_OUTPUT)
  EACH_INPUT(INPUT_VECTOR)
  EACH_OUTPUT(OUTPUT_VECTOR)
  long at = get_global_id(0) * chunk;
  const long end = min(at + chunk, n);
#ifdef PAIRS
  for (; at + 2 * VW <= end; at += 2 * VW) {
    EACH_INPUT(READ_PAIRS)
    COMPUTE_PAIRS
  }
#endif
  for (; at + VW <= end; at += VW) {
    EACH_INPUT(READ_INPUT)
    CALL(of_vector);
    EACH_OUTPUT(WRITE_OUTPUT)
  }
  const int left = (int)(end - at);
  if (left > 0) {
    EACH_INPUT(LOAD_END)
    CALL(of_vector);
    EACH_OUTPUT(STORE_END)
  }
#ifdef STREAM
  mem_fence(CLK_GLOBAL_MEM_FENCE);
#endif
}

#elif defined(ROWS) || defined(SHORT_ROWS)

#include "pointwise/row_places.h"

// Up to VW elements of one row.
#define LOAD_PART(k, type, R)                                        \
  {                                                                  \
    const long step = p##k##_step[last], from = p##k##_row + column * step; \
    if (count == VW && step == 1) {                                  \
      x##k = LOAD_V(type, R, p##k, from);                            \
    } else if (step == 0) {                                          \
      x##k = (JOIN(R, VW))(LOAD_S(type, R, p##k, from));             \
    } else {                                                         \
      LOAD_LANES(type, R, x##k, p##k, from, step, count)             \
    }                                                                \
  }
#ifdef STREAM
#define STORE_PART(k, type, R) STREAM_V(type, q##k + q_row + column, y##k);
#else
#define STORE_PART(k, type, R)                                       \
  {                                                                  \
    const long step = q_step[last], to = q_row + column * step;           \
    if (count == VW && step == 1) {                                  \
      STORE_V(type, q##k, to, y##k);                                 \
    } else {                                                         \
      STORE_LANES(type, R, q##k, to, step, count, y##k)              \
    }                                                                \
  }
#endif

// A vector of elements from several rows.
#define INPUT_LANES(k, type, R) R p##k##_lanes[VW] = {0};
#define OUTPUT_LANES(k, type, R) R q##k##_lanes[VW];
#define LOAD_LANE(k, type, R) \
  p##k##_lanes[lane] = LOAD_S(type, R, p##k, p##k##_row + column * p##k##_step[last]);
#define JOIN_LANES(k, type, R) x##k = vloadv(0, p##k##_lanes);
#define SPLIT_LANES(k, type, R) vstorev(y##k, 0, q##k##_lanes);
#define STORE_LANE(k, type, R) STORE_S(type, q##k, q_at[lane], q##k##_lanes[lane]);

// Whether the last vector of a row may overlap the previous one. It then computes some elements a second time.
#ifdef IN_PLACE
#define MAY_OVERLAP 0
#else
#define MAY_OVERLAP 1
#endif

#ifdef ROWS
#define ENTRY rows
#else
#define ENTRY short_rows
#endif

#define ROWS_PARAMETERS                                                                                         \
  EACH_INPUT(INPUT) EACH_OUTPUT(OUTPUT) EACH_SCALAR(SCALAR) const AXES shape, EACH_INPUT(INPUT_STRIDES) const AXES \
      q_strides, const int rank, const long n, const long chunk
#define ROWS_ARGUMENTS                                                                                           \
  EACH_INPUT(INPUT_NAMES) EACH_OUTPUT(OUTPUT_NAMES) EACH_SCALAR(SCALAR_NAME) shape, EACH_INPUT(STRIDES_NAME) q_strides, \
      rank, n, chunk

VECTOR_KERNEL void ENTRY(ROWS_PARAMETERS) {
  const long begin = get_global_id(0) * chunk;
  long left = min(chunk, n - begin);
  if (left <= 0) return;
  EACH_INPUT(SHIFT_INPUT) EACH_OUTPUT(SHIFT_OUTPUT)
  BEGIN_ROW
  EACH_INPUT(INPUT_VECTOR) EACH_OUTPUT(OUTPUT_VECTOR)
#ifdef ROWS
  while (left > 0) {
    const long start = column, end = min(size[last], column + left);
    left -= end - start;
    // Whole rows that follow each other along the axis before the last one. To move to the next row, each operand takes
    // one addition.
    long rows = 1;
    if (last > 0 && start == 0 && end == size[last]) {
      rows = min(left / end + 1, size[last - 1] - index[last - 1]);
      left -= (rows - 1) * end;
      index[last - 1] += rows - 1;
    }
    for (long row = 0; row < rows; ++row) {
      if (row > 0) {
        EACH_INPUT(INPUT_DOWN)
        q_row += q_step[last - 1];
      }
      column = start;
      COMPUTE_PAIRS_OF_ROW
      for (; column < end; column += VW) {
        if (MAY_OVERLAP && end - start >= VW) column = min(column, end - VW);
        const int count = (int)min((long)VW, end - column);
        EACH_INPUT(LOAD_PART)
        CALL(of_vector);
        EACH_OUTPUT(STORE_PART)
      }
    }
    column = 0;
    NEXT_ROW
  }
#else
  for (; left > 0; left -= VW) {
    const int count = (int)min((long)VW, left);
    EACH_INPUT(INPUT_LANES) EACH_OUTPUT(OUTPUT_LANES)
    long q_at[VW];
    for (int lane = 0; lane < count; ++lane) {
      EACH_INPUT(LOAD_LANE)
      q_at[lane] = q_row + column * q_step[last];
      if (++column == size[last]) {
        column = 0;
        NEXT_ROW
      }
    }
    EACH_INPUT(JOIN_LANES)
    CALL(of_vector);
    EACH_OUTPUT(SPLIT_LANES)
    for (int lane = 0; lane < count; ++lane) { EACH_OUTPUT(STORE_LANE) }
  }
#endif
#ifdef STREAM
  mem_fence(CLK_GLOBAL_MEM_FENCE);
#endif
}

#else  // ITEMS, ITEM_VECTORS

#define INPUT_STEPS(k, type, R) \
  long p##k##_step[RANK];       \
  JOIN(vstore, RANK)(p##k##_strides, 0, p##k##_step); \
  INDEX p##k##_at = 0;
#define INPUT_ADVANCE(k, type, R) p##k##_at += index * (INDEX)p##k##_step[d];
#ifdef ITEMS
#define ENTRY items
#define WIDTH 1
#define READ_INPUT(k, type, R) const R x##k = LOAD_S(type, R, p##k, p##k##_at);
#define RESULT(k, type, R) R y##k;
#define WRITE_OUTPUT(k, type, R) STORE_S(type, q##k, q_at, y##k);
#define FUNCTION of_one
#else
#define ENTRY item_vectors
#define WIDTH VW
#define READ_INPUT(k, type, R)                                            \
  JOIN(R, VW) x##k;                                                       \
  if (p##k##_step[RANK - 1] == 0) {                                       \
    x##k = (JOIN(R, VW))(LOAD_S(type, R, p##k, p##k##_at));               \
  } else {                                                                \
    x##k = LOAD_V(type, R, p##k, p##k##_at);                              \
  }
#define RESULT(k, type, R) OUTPUT_VECTOR(k, type, R)
#define WRITE_OUTPUT(k, type, R) STORE_V(type, q##k, q_at, y##k);
#define FUNCTION of_vector
#endif

// If the tensors have fewer than RANK axes, axes of size 1 come first.
__kernel void ENTRY(EACH_INPUT(INPUT) EACH_OUTPUT(OUTPUT) EACH_SCALAR(SCALAR) const AXES shape,
                    EACH_INPUT(INPUT_STRIDES) const AXES q_strides, const long n) {
  INDEX rest = get_global_id(0) * (INDEX)WIDTH;
  if (rest >= n) return;
  EACH_INPUT(SHIFT_INPUT)
  EACH_OUTPUT(SHIFT_OUTPUT)
  long size[RANK], q_step[RANK];
  JOIN(vstore, RANK)(shape, 0, size);
  JOIN(vstore, RANK)(q_strides, 0, q_step);
  INDEX q_at = 0;
  EACH_INPUT(INPUT_STEPS)
#pragma unroll
  for (int d = RANK - 1; d >= 0; --d) {
    const INDEX index = d == 0 ? rest : rest % (INDEX)size[d];
    rest /= (INDEX)size[d];
    EACH_INPUT(INPUT_ADVANCE)
    q_at += index * (INDEX)q_step[d];
  }
  EACH_INPUT(READ_INPUT)
  EACH_OUTPUT(RESULT)
  CALL(FUNCTION);
  EACH_OUTPUT(WRITE_OUTPUT)
}

#endif
