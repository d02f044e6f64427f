// The destination of a product's results: C = f(sum (+ C) (+ bias)). Results are stored one element of a row at a time,
// or 2 or 4 at a time with VEC_C = 2 or 4. Rows and epilogue operands then start at multiples of VEC_C, and their
// length is a multiple of VEC_C.
#include "product/epilogue.h"
#include "common/inline.h"

#ifndef VEC_C
#define VEC_C 1
#endif

// The type with which sums are stored, VEC_C at a time.
#if VEC_C == 4
#define SUMS float4
#define LOAD_SUMS vload4
#elif VEC_C == 2
#define SUMS float2
#define LOAD_SUMS vload2
#else
#define SUMS float
#endif

DEFINE_FINISH(SUMS, finish_sums)

// The destination of the results.
typedef struct {
  __global float* c;
  __global const float* bias;
  long row, column;  // Strides.
  int flags;
} Target;

#if VEC_C > 1
// Stores neighbours of a row, all inside C. The rows of C and of the epilogue's operands start at multiples of VEC_C.
INLINE void store_sums(SUMS sum, long row, long column, const Target* t, const Finish* finish) {
  __global SUMS* out = (__global SUMS*)(t->c + row * t->row + column);
  if (t->flags & ADD_TO_C) sum += *out;
  if (t->flags & BIAS_PER_ROW) sum += t->bias[row];
  if (t->flags & BIAS_PER_COLUMN) sum += LOAD_SUMS(0, t->bias + column);
  SUMS first = sum, second = sum;
  if (READS_E0(t->flags)) {
    __global const float* e = finish->e0 + row * finish->row0;
    first = finish->column0 == 0 ? (SUMS)(*e) : *(__global const SUMS*)(e + column);
  }
  if (READS_E1(t->flags)) {
    __global const float* e = finish->e1 + row * finish->row1;
    second = finish->column1 == 0 ? (SUMS)(*e) : *(__global const SUMS*)(e + column);
  }
  *out = finish_sums(sum, first, second, finish, t->flags);
}
#else
INLINE void store_sums(float sum, long row, long column, const Target* t, const Finish* finish) {
  __global float* out = t->c + row * t->row + column * t->column;
  if (t->flags & ADD_TO_C) sum += *out;
  if (t->flags & BIAS_PER_ROW) sum += t->bias[row];
  if (t->flags & BIAS_PER_COLUMN) sum += t->bias[column];
  const float first = READS_E0(t->flags) ? finish->e0[row * finish->row0 + column * finish->column0] : 0.0f;
  const float second = READS_E1(t->flags) ? finish->e1[row * finish->row1 + column * finish->column1] : 0.0f;
  *out = finish_sums(sum, first, second, finish, t->flags);
}
#endif
