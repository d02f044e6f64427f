// y[i] = f(x0[i], x1[i], …, s0, s1, …) for every index i of y; with IN_PLACE y[i] = f(y[i], x0[i], …, s0, …).
//
// The prelude (lib/ops/pointwise_program.cpp) makes this file the kernels of one op:
//   INPUTS, SCALARS            how many x and s there are, 0 to 3 each
//   X0, X1, X2, Y              element types: float, half, int, long, uchar, boolean, ushort (a half only copied)
//   S                          what f computes in: float, long, …
//   FUNCTION(T, S, name)       defines f for the type T, which is S or a vector of it
// and the defines choose VW, ALIGNED (see common/element.h) and one kernel, because compiling all three takes as long as
// three programs:
//   (nothing)                  flat
//   ROWS                       rows
//   RANK, INDEX                items: axes, 1 to 8; uint where every index and offset fits, else ulong
//
// flat    all operands contiguous: a work-item takes `chunk` elements. On a CPU few items take long chunks; on a GPU a
//         chunk is one vector, so that neighbouring items touch neighbouring vectors.
// rows    any strides, for CPUs: a work-item takes `chunk` elements, row by row (the last axis), in vectors where a row
//         is contiguous or repeats one element.
// items   any strides, for GPUs: a work-item takes one element.
//
// Strides count elements and stand beside `shape`, outermost axis first.
#ifndef INPUTS
#define INPUTS 1
#define SCALARS 0
#define X0 float
#define Y float
#define S float
#define FUNCTION(T, S, name) \
  T name(const T x) { return x; }
#endif

#include "common/element.h"

#if INPUTS == 0
#define EACH_INPUT(M)
#elif INPUTS == 1
#define EACH_INPUT(M) M(0)
#elif INPUTS == 2
#define EACH_INPUT(M) M(0) M(1)
#else
#define EACH_INPUT(M) M(0) M(1) M(2)
#endif

#if SCALARS == 0
#define EACH_SCALAR(M)
#elif SCALARS == 1
#define EACH_SCALAR(M) M(0)
#elif SCALARS == 2
#define EACH_SCALAR(M) M(0) M(1)
#else
#define EACH_SCALAR(M) M(0) M(1) M(2)
#endif

// Arguments of f: the old value, the inputs, the scalars, with commas between them only.
#define VALUES_0
#define VALUES_1 v0
#define VALUES_2 v0, v1
#define VALUES_3 v0, v1, v2
#define NUMBERS_0
#define NUMBERS_1 s0
#define NUMBERS_2 s0, s1
#define NUMBERS_3 s0, s1, s2
#ifdef IN_PLACE
#define Y_RESTRICT
#if INPUTS == 0
#define OLD_VALUE old
#else
#define OLD_VALUE old,
#endif
#else
#define Y_RESTRICT restrict
#define OLD_VALUE
#endif
#if SCALARS > 0 && (INPUTS > 0 || defined(IN_PLACE))
#define THEN ,
#else
#define THEN
#endif
#define ARGUMENTS OLD_VALUE JOIN(VALUES_, INPUTS) THEN JOIN(NUMBERS_, SCALARS)

#define PARAMETER(k) __global const X##k *restrict x##k, const ulong x##k##_offset,
#define SHIFT(k) x##k += x##k##_offset;
#define SCALAR(k) const S s##k,
#define STRIDES(k) const long8 x##k##_strides,

FUNCTION(S, S, of_one)
#ifndef RANK
FUNCTION(V, S, of_vector)
#endif

#if !defined(ROWS) && !defined(RANK)

// f at element `at` of contiguous operands.
#define LOAD_ONE(k) const S v##k = LOAD_S(X##k, x##k, at);
#define LOAD_VECTOR(k) const V v##k = LOAD_V(X##k, x##k, at);

__kernel void flat(EACH_INPUT(PARAMETER) __global Y* Y_RESTRICT y, const ulong y_offset, EACH_SCALAR(SCALAR)
                   const long n, const long chunk) {
  EACH_INPUT(SHIFT)
  y += y_offset;
  long at = get_global_id(0) * chunk;
  const long end = min(at + chunk, n);
  for (; at + VW <= end; at += VW) {
    EACH_INPUT(LOAD_VECTOR)
#ifdef IN_PLACE
    const V old = LOAD_V(Y, y, at);
#endif
    STORE_V(Y, y, at, of_vector(ARGUMENTS));
  }
  for (; at < end; ++at) {
    EACH_INPUT(LOAD_ONE)
#ifdef IN_PLACE
    const S old = LOAD_S(Y, y, at);
#endif
    STORE_S(Y, y, at, of_one(ARGUMENTS));
  }
}

#elif defined(ROWS)

// VW elements that lie `step` apart.
#define LOAD_APART(type, v, p, at, step)                                                 \
  V v;                                                                                   \
  if (step == 1) {                                                                       \
    v = LOAD_V(type, p, at);                                                             \
  } else if (step == 0) {                                                                \
    v = (V)(LOAD_S(type, p, at));                                                        \
  } else {                                                                               \
    S lanes[VW];                                                                         \
    for (int lane = 0; lane < VW; ++lane) lanes[lane] = LOAD_S(type, p, at + lane * step); \
    v = JOIN(vload, VW)(0, lanes);                                                       \
  }

#define DECLARE(k)                     \
  long x##k##_step[8];                 \
  vstore8(x##k##_strides, 0, x##k##_step); \
  long x##k##_row = 0;
#define BEGIN(k) x##k##_row += index[d] * x##k##_step[d];
#define NEXT(k) x##k##_row += x##k##_step[d];
#define WRAP(k) x##k##_row -= size[d] * x##k##_step[d];
#define LOAD_ROW_VECTOR(k) LOAD_APART(X##k, v##k, x##k, x##k##_row + column * x##k##_step[last], x##k##_step[last])
#define LOAD_ROW_ONE(k) const S v##k = LOAD_S(X##k, x##k, x##k##_row + column * x##k##_step[last]);

__kernel void rows(EACH_INPUT(PARAMETER) __global Y* Y_RESTRICT y, const ulong y_offset, EACH_SCALAR(SCALAR)
                   const long8 shape, EACH_INPUT(STRIDES) const long8 y_strides, const int rank, const long n,
                   const long chunk) {
  EACH_INPUT(SHIFT)
  y += y_offset;
  const long begin = get_global_id(0) * chunk;
  long left = min(chunk, n - begin);
  if (left <= 0) return;

  const int last = rank - 1;
  long size[8], index[8], y_step[8];
  vstore8(shape, 0, size);
  vstore8(y_strides, 0, y_step);
  EACH_INPUT(DECLARE)
  long y_row = 0;
  long column = begin % size[last];
  long rest = begin / size[last];
  for (int d = last - 1; d >= 0; --d) {
    index[d] = rest % size[d];
    rest /= size[d];
    EACH_INPUT(BEGIN)
    y_row += index[d] * y_step[d];
  }

  const long y_apart = y_step[last];
  while (left > 0) {
    const long end = min(size[last], column + left);
    left -= end - column;
    for (; column + VW <= end; column += VW) {
      EACH_INPUT(LOAD_ROW_VECTOR)
      const long y_at = y_row + column * y_apart;
#ifdef IN_PLACE
      LOAD_APART(Y, old, y, y_at, y_apart)
#endif
      const V result = of_vector(ARGUMENTS);
      if (y_apart == 1) {
        STORE_V(Y, y, y_at, result);
      } else {
        S lanes[VW];
        JOIN(vstore, VW)(result, 0, lanes);
        for (int lane = 0; lane < VW; ++lane) STORE_S(Y, y, y_at + lane * y_apart, lanes[lane]);
      }
    }
    for (; column < end; ++column) {
      EACH_INPUT(LOAD_ROW_ONE)
      const long y_at = y_row + column * y_apart;
#ifdef IN_PLACE
      const S old = LOAD_S(Y, y, y_at);
#endif
      STORE_S(Y, y, y_at, of_one(ARGUMENTS));
    }
    column = 0;
    for (int d = last - 1; d >= 0; --d) {
      EACH_INPUT(NEXT)
      y_row += y_step[d];
      if (++index[d] < size[d]) break;
      EACH_INPUT(WRAP)
      y_row -= size[d] * y_step[d];
      index[d] = 0;
    }
  }
}

#else  // RANK

#define DECLARE(k)                     \
  long x##k##_step[8];                 \
  vstore8(x##k##_strides, 0, x##k##_step); \
  INDEX x##k##_at = 0;
#define ADVANCE(k) x##k##_at += index * (INDEX)x##k##_step[d];
#define LOAD_ITEM(k) const S v##k = LOAD_S(X##k, x##k, x##k##_at);

__kernel void items(EACH_INPUT(PARAMETER) __global Y* Y_RESTRICT y, const ulong y_offset, EACH_SCALAR(SCALAR)
                    const long8 shape, EACH_INPUT(STRIDES) const long8 y_strides, const long n) {
  const INDEX item = get_global_id(0);
  if (item >= n) return;
  EACH_INPUT(SHIFT)
  y += y_offset;
  long size[8], y_step[8];
  vstore8(shape, 0, size);
  vstore8(y_strides, 0, y_step);
  EACH_INPUT(DECLARE)
  INDEX y_at = 0;
  INDEX rest = item;
#pragma unroll
  for (int d = RANK - 1; d >= 0; --d) {
    const INDEX index = d == 0 ? rest : rest % (INDEX)size[d];
    rest /= (INDEX)size[d];
    EACH_INPUT(ADVANCE)
    y_at += index * (INDEX)y_step[d];
  }
  EACH_INPUT(LOAD_ITEM)
#ifdef IN_PLACE
  const S old = LOAD_S(Y, y, y_at);
#endif
  STORE_S(Y, y, y_at, of_one(ARGUMENTS));
}

#endif
