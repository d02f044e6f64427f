// Where the results of a product go: C = f(sum (+ C) (+ bias)), one element of a row at a time or, with VEC_C = 4, four:
// then rows and epilogue operands begin at multiples of four, and their length is one.
#include "common/epilogue.h"
#include "common/inline.h"

#ifndef VEC_C
#define VEC_C 1
#endif

#if VEC_C == 4
DEFINE_FINISH(float4, finish_four)
#else
DEFINE_FINISH(float, finish_number)
#endif

// Where the results go.
typedef struct {
  __global float* c;
  __global const float* bias;
  long row, column;  // Strides.
  int flags;
} Target;

#if VEC_C == 4
// Four neighbours of a row, all inside. The rows of C and of the epilogue's operands begin at multiples of four.
INLINE void store_four(float4 sum, long row, long column, const Target* t, const Finish* finish) {
  __global float4* out = (__global float4*)(t->c + row * t->row + column);
  if (t->flags & ADD_TO_C) sum += *out;
  if (t->flags & BIAS_PER_ROW) sum += t->bias[row];
  if (t->flags & BIAS_PER_COLUMN) sum += vload4(0, t->bias + column);
  float4 first = sum, second = sum;
  if (READS_E0(t->flags)) {
    __global const float* e = finish->e0 + row * finish->row0;
    first = finish->column0 == 0 ? (float4)(*e) : *(__global const float4*)(e + column);
  }
  if (READS_E1(t->flags)) {
    __global const float* e = finish->e1 + row * finish->row1;
    second = finish->column1 == 0 ? (float4)(*e) : *(__global const float4*)(e + column);
  }
  *out = finish_four(sum, first, second, finish, t->flags);
}
#else
INLINE void store_number(float sum, long row, long column, const Target* t, const Finish* finish) {
  __global float* out = t->c + row * t->row + column * t->column;
  if (t->flags & ADD_TO_C) sum += *out;
  if (t->flags & BIAS_PER_ROW) sum += t->bias[row];
  if (t->flags & BIAS_PER_COLUMN) sum += t->bias[column];
  const float first = READS_E0(t->flags) ? finish->e0[row * finish->row0 + column * finish->column0] : 0.0f;
  const float second = READS_E1(t->flags) ? finish->e1[row * finish->row1 + column * finish->column1] : 0.0f;
  *out = finish_number(sum, first, second, finish, t->flags);
}
#endif

// What the sums of a product are stored with, VEC_C at a time.
#if VEC_C == 4
#define SUMS float4
#define store_sums store_four
#else
#define SUMS float
#define store_sums store_number
#endif
