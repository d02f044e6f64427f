// The common part of the reduction kernels: positions of elements, reading and writing.
//
//   o counts the kept axes and r the reduced axes, outermost first. Each list of axes has a shape and, for every
//   operand, strides. y[o] = FINISH of the combination (reduce/combine.h) of MAP(x[o, r]) over all r.
//
//   TYPE, OUT   types in memory of x and y; S is the type of the computation
//   MAP         an expression of x, the element, and `parameter`, of type T
//   FINISH      an expression of a, the combined value, count = number of elements, and `parameter`, of type T
//
// With several parts (the second dimension of the range), part p combines the r from PART_BEGIN(p, parts) on. It writes
// its state to states[(component * parts + p) * outputs + o] (and positions[p * outputs + o]). `join` then combines the
// states.
//
// A prelude may take the elements from somewhere else, such as an expression of several operands. It must then define
// all of these:
//
//   SOURCE_PARAMETERS, SOURCE_FORMAL, SOURCE   the operands as parameters of kernels, of functions, as arguments
//   CURSOR                   a position in all operands
//   SEEK(at, o)  MOVE(at, from, r)   statements: `at` becomes the position of element (o, 0); the position r elements
//                                    after `from`
//   MOVE_TO_RUN(at, from, n)  MOVE_ALONG(at, from, i)   statements: `at` becomes the position of run n along the last
//                                                       reduced axis, where `from` is the position of element 0; the
//                                                       position i elements after `from` in a run
//   READ_ONE_ALONG(at, i), READ_MANY_ALONG(at, i)     the element that is i elements further along the last reduced
//                                                     axis, as type one; VW elements from there on, as type many; both
//                                                     without MAP
//   READ_ONE_ACROSS(at, i), READ_MANY_ACROSS(at, i)   the same along the last kept axis
//   ALONG_IS_UNIT            READ_MANY_ALONG is allowed
//   CAN_READ_MANY(at, i)     whether READ_MANY may read VW elements from i on, even if fewer are needed
#ifndef TYPE
#define TYPE float
#define OUT float
#endif
#ifndef MAP
#define MAP x
#endif
#ifndef FINISH
#define FINISH a
#endif

#ifndef OUTLINE
#define OUTLINE __attribute__((noinline))
#endif

// Vectors of the computation's type are moved without a conversion. PoCL turns a conversion, even to the same type,
// into moves of two elements.
typedef many unaligned_many __attribute__((aligned(sizeof(one))));
#if defined(TYPE_IS_S) && !defined(WHOLE_VECTORS)
#define READ_MANY(p, i) (*(__global const unaligned_many*)((p) + (i)))
#else
#define READ_MANY(p, i) LOAD_V(TYPE, S, p, i)
#endif

// The position of element `number`. Shape and strides are innermost first. CPUs do not inline this function, because
// compilers take long to compile loops. The loop rotates the lists, so that every index is a constant. A variable index
// would put the lists into memory.
OUTLINE long position_in(long8 shape, long8 strides, const int rank, long number) {
  long at = 0;
  NO_UNROLL
  for (int d = 1; d < rank; ++d) {
    const long next = number / shape.s0;
    at += (number - next * shape.s0) * strides.s0;
    number = next;
    shape = shape.s12345670;
    strides = strides.s12345670;
  }
  return at + number * strides.s0;
}

INLINE long position(const long8 shape, const long8 strides, const int rank, const long number) {
  return rank == 1 ? number * strides.s0 : position_in(shape, strides, rank, number);
}

#ifndef SOURCE
#define SOURCE_FORMAL __global const TYPE *x, const ulong x_offset, const long8 kept_strides, const long8 reduced_strides
#define SOURCE_PARAMETERS \
  __global const TYPE *restrict x, const ulong x_offset, const long8 kept_strides, const long8 reduced_strides
#define SOURCE x, x_offset, kept_strides, reduced_strides
#define CURSOR long
#define SEEK(at, o) at = (long)x_offset + position(kept_shape, kept_strides, KEPT_RANK, o);
#define MOVE(at, from, r) at = (from) + position(reduced_shape, reduced_strides, REDUCED_RANK, r);
#define MOVE_TO_RUN(at, from, n) at = (from) + RUN_POSITION(reduced_strides, n);
#define MOVE_ALONG(at, from, i) at = (from) + (i) * reduced_strides.s0;
#define ALONG_IS_UNIT (reduced_strides.s0 == 1)
#define READ_ONE_ALONG(at, i) LOAD_S(TYPE, S, x, (at) + (i) * reduced_strides.s0)
#define READ_MANY_ALONG(at, i) READ_MANY(x, (at) + (i))
#define READ_ONE_ACROSS(at, i) LOAD_S(TYPE, S, x, (at) + (i))
#define READ_MANY_ACROSS(at, i) READ_MANY(x, (at) + (i))
#define CAN_READ_MANY(at, i) ((at) + (i) + VW <= SOURCE_END)
#endif

// The start of run `n`, counted over all reduced axes except for the last one.
#if RUNS == 2
#define RUN_POSITION(strides, n) ((n) * strides.s1)
#else
#define RUN_POSITION(strides, n) position_in(reduced_shape.s12345670, strides.s12345670, REDUCED_RANK - 1, n)
#endif

// All lists of axes are innermost first. There are few arguments, because each argument makes a launch 0.1 µs slower or
// more.
#define AXES_FORMAL const long8 kept_shape, const long8 reduced_shape, const long8 sizes
#define AXES kept_shape, reduced_shape, sizes
#define KEPT_RANK ((int)sizes.s0)
#define REDUCED_RANK ((int)sizes.s1)
#define OUTPUTS sizes.s2
#define REDUCED sizes.s3          // The number of elements that an output reduces.
#define SPLIT_A sizes.s4          // Two numbers that say how the work is split.
#define SPLIT_B sizes.s5
#define SOURCE_END sizes.s6       // Elements of x from here on must not be read.
#if defined(WIDE) && !defined(INTEGER)
#define PARAMETER as_double(sizes.s7)
#else
#define PARAMETER as_float((int)sizes.s7)
#endif

// y holds the results, or the states of the parts if there are several parts.
#if KIND >= KIND_ARG_MAX
#define RESULT_PARAMETERS \
  __global void *restrict y, const ulong y_offset, __global long *restrict positions, const ulong positions_offset
#define RESULT_ARGUMENTS y, y_offset, positions, positions_offset
#define POSITIONS (positions + positions_offset)
#else
#define RESULT_PARAMETERS __global void *restrict y, const ulong y_offset
#define RESULT_ARGUMENTS y, y_offset
#define POSITIONS ((__global long*)0)
#endif
#define REDUCE_PARAMETERS SOURCE_PARAMETERS, AXES_FORMAL, RESULT_PARAMETERS
#define REDUCE_ARGUMENTS SOURCE, AXES, RESULT_ARGUMENTS
#define RESULTS ((__global OUT*)y + y_offset)
#define STATES ((__global S*)y + y_offset)
#define PART_BEGIN(part, parts) (REDUCED / (parts) * (part) + min((long)(part), REDUCED % (parts)))

// x^y. Vectors of doubles are computed lane by lane, because PoCL's function is wrong for them.
#define POW pow
INLINE one map_one(const one x, const real parameter) {
  typedef one T;
  return MAP;
}
INLINE one finish_one(const one a, const long elements, const real parameter) {
  typedef one T;
  const real count = elements;
  return FINISH;
}
#if defined(WIDE) && !defined(INTEGER)
#include "common/math/doubles.h"
#undef POW
#define POW JOIN(pow_, V)
#endif
INLINE many map_many(const many x, const real parameter) {
  typedef many T;
  return MAP;
}
INLINE many finish_many(const many a, const long elements, const real parameter) {
  typedef many T;
  const real count = elements;
  return FINISH;
}

#if KIND == KIND_MOMENTS
#define COMPONENTS 3
#elif KIND == KIND_LOG_SUM_EXP
#define COMPONENTS 2
#else
#define COMPONENTS 1
#endif

// The states (and positions) of SPLIT_B parts, which `join` reads and combines.
#if KIND >= KIND_ARG_MAX
#define JOIN_PARAMETERS                                                                                        \
  __global const S *restrict states, const ulong states_offset, __global const long *restrict part_positions, \
      const ulong part_positions_offset, RESULT_PARAMETERS, const long8 sizes
#define JOIN_ARGUMENTS \
  states, states_offset, part_positions, part_positions_offset, RESULT_ARGUMENTS, sizes
#define PART_POSITIONS (part_positions + part_positions_offset)
#else
#define JOIN_PARAMETERS __global const S *restrict states, const ulong states_offset, RESULT_PARAMETERS, const long8 sizes
#define JOIN_ARGUMENTS states, states_offset, RESULT_ARGUMENTS, sizes
#define PART_POSITIONS ((__global const long*)0)
#endif
#define PARTS states + states_offset, PART_POSITIONS

INLINE one_state state_of_part(__global const S* states, __global const long* positions, const long part, const long o,
                               const long8 sizes) {
  const long parts = SPLIT_B;
  states += part * OUTPUTS + o;
  one_state s = {states[0], 0, 0, 0, 0};
  if (COMPONENTS > 1) s.b = states[parts * OUTPUTS];
  if (COMPONENTS > 2) s.c = states[2 * parts * OUTPUTS];
  if (KIND >= KIND_ARG_MAX) s.at = positions[part * OUTPUTS + o];
  return s;
}

// Stores one result. The state is settled, and its elements are numbered from `begin` on.
INLINE void put_joined(const one_state* s, const long o, const long begin, __global OUT* y, __global long* positions,
                       const long8 sizes) {
  STORE_S(OUT, y, o, finish_one(VALUE(one, (*s)), REDUCED, PARAMETER));
  if (KIND >= KIND_ARG_MAX) positions[o] = s->at + begin;
}
