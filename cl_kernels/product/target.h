// The destination of a product's results: C = f(sum (+ C) (+ bias)). Results are stored one element of a row at a time,
// or 2 or 4 at a time with VEC_C = 2 or 4. Rows and epilogue operands then start at multiples of VEC_C, and their
// length is a multiple of VEC_C.
#include "product/epilogue.h"
#include "common/inline.h"

#ifndef VEC_C
#define VEC_C 1
#endif

// SUMS holds VEC_C sums. LOAD_NEIGHBOURS and STORE_NEIGHBOURS move them from and to memory, where they begin at a
// multiple of VEC_C. A bias may begin anywhere.
#if VEC_C > 1
#define SUMS OF_TYPE(float, VEC_C)
#define LOAD_SUMS OF_TYPE(vload, VEC_C)
#define LOAD_NEIGHBOURS(p) OF_TYPE(LOAD_NEIGHBOURS_, RESULT)(p)
#define LOAD_NEIGHBOURS_float(p) (*(__global const SUMS*)(p))
#define LOAD_NEIGHBOURS_half(p) OF_TYPE(vloada_half, VEC_C)(0, p)
#define LOAD_NEIGHBOURS_bfloat(p) OF_TYPE(floats_of, VEC_C)(*(__global const OF_TYPE(ushort, VEC_C)*)(p))
#define STORE_NEIGHBOURS(p, sums) OF_TYPE(STORE_NEIGHBOURS_, RESULT)(p, sums)
#define STORE_NEIGHBOURS_float(p, sums) *(__global SUMS*)(p) = sums
#define STORE_NEIGHBOURS_half(p, sums) OF_TYPE(vstorea_half, VEC_C)(sums, 0, p)
#define STORE_NEIGHBOURS_bfloat(p, sums) *(__global OF_TYPE(ushort, VEC_C)*)(p) = OF_TYPE(bfloat_bits, VEC_C)(sums)
#define LOAD_BIAS(p) OF_TYPE(LOAD_BIAS_, RESULT)(p)
#define LOAD_BIAS_float(p) LOAD_SUMS(0, p)
#define LOAD_BIAS_half(p) OF_TYPE(vload_half, VEC_C)(0, p)
#define LOAD_BIAS_bfloat(p) OF_TYPE(floats_of, VEC_C)(LOAD_SUMS(0, p))
#else
#define SUMS float
#endif

DEFINE_FINISH(SUMS, finish_sums)

// The destination of the results.
typedef struct {
  __global RESULT* c;
  __global const RESULT* bias;
  long row, column;  // Strides.
  int flags;
} Target;

#if VEC_C > 1
// Stores neighbours of a row, all inside C. The rows of C and of the epilogue's operands start at multiples of VEC_C.
INLINE void store_sums(SUMS sum, long row, long column, const Target* t, const Finish* finish) {
  __global RESULT* out = t->c + row * t->row + column;
  if (t->flags & ADD_TO_C) sum += LOAD_NEIGHBOURS(out);
  if (t->flags & BIAS_PER_ROW) sum += LOAD(RESULT, t->bias, row);
  if (t->flags & BIAS_PER_COLUMN) sum += LOAD_BIAS(t->bias + column);
  SUMS first = sum, second = sum;
  if (READS_E0(t->flags)) {
    __global const RESULT* e = finish->e0 + row * finish->row0;
    first = finish->column0 == 0 ? (SUMS)(LOAD(RESULT, e, 0)) : LOAD_NEIGHBOURS(e + column);
  }
  if (READS_E1(t->flags)) {
    __global const RESULT* e = finish->e1 + row * finish->row1;
    second = finish->column1 == 0 ? (SUMS)(LOAD(RESULT, e, 0)) : LOAD_NEIGHBOURS(e + column);
  }
  STORE_NEIGHBOURS(out, finish_sums(sum, first, second, finish, t->flags));
}
#else
INLINE void store_sums(float sum, long row, long column, const Target* t, const Finish* finish) {
  __global RESULT* out = t->c + row * t->row + column * t->column;
  if (t->flags & ADD_TO_C) sum += LOAD(RESULT, out, 0);
  if (t->flags & BIAS_PER_ROW) sum += LOAD(RESULT, t->bias, row);
  if (t->flags & BIAS_PER_COLUMN) sum += LOAD(RESULT, t->bias, column);
  const float first =
      READS_E0(t->flags) ? LOAD(RESULT, finish->e0, row * finish->row0 + column * finish->column0) : 0.0f;
  const float second =
      READS_E1(t->flags) ? LOAD(RESULT, finish->e1, row * finish->row1 + column * finish->column1) : 0.0f;
  STORE(RESULT, out, 0, finish_sums(sum, first, second, finish, t->flags));
}
#endif
