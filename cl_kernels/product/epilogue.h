// The last operations on the sums of a product, before they are stored: y = f(sum (+ y) (+ bias)).
//
// f is relu, an addition or both (flags of product/gemm_flags.h), or it comes from a prelude
// (lib/ops/product/epilogue.h). A prelude gives the macro EPILOGUE(T, name), which defines T name(T v, T e0, T e1,
// float8 s). For element (i, at) of product p, f gets the element p * batch + i * row + at * column of each operand.
// `at` is the element's position in a row of the result. `column` is 0 or 1.
//
// RESULT is the type of y in memory, and also of the bias and of the operands. The host defines it if it is not float.
// A kernel whose operands have another type defines OPERAND. OPERAND0 and OPERAND1 are the types of each operand.
#include "common/element.h"
#include "product/gemm_flags.h"
#include "product/parameters.h"

#ifndef RESULT
#define RESULT float
#define RESULT_IS_FLOAT
#endif

#ifndef OPERAND
#define OPERAND RESULT
#endif
#ifndef OPERAND0
#define OPERAND0 OPERAND
#endif
#ifndef OPERAND1
#define OPERAND1 OPERAND
#endif

#define EPILOGUE_PARAMETERS                                                                          \
  __global const OPERAND0 *restrict e0, const ulong e0_offset, __global const OPERAND1 *restrict e1, \
      const ulong e1_offset, const EpilogueParameters epilogue, const float8 scalars
#define EPILOGUE_ARGUMENTS e0, e0_offset, e1, e1_offset, epilogue, scalars

typedef struct {
  __global const OPERAND0* e0;  // The operands, from this product's first element on.
  __global const OPERAND1* e1;
  long row0, column0, row1, column1;
  float8 s;
} Finish;

// Makes a Finish of the parameters above for product `index`.
#define FINISH_OF(index)                                                                                    \
  {e0 + e0_offset + (index) * epilogue.batch0, e1 + e1_offset + (index) * epilogue.batch1, epilogue.row0,   \
   epilogue.column0, epilogue.row1, epilogue.column1, scalars}

// DEFINE_FINISH(T, name) defines f for T, a float or a vector of floats: T name(v, e0, e1, Finish, flags).
#ifdef EPILOGUE
#define READS_E0(flags) (EPILOGUE_OPERANDS > 0 && (flags) & SNIPPET)
#define READS_E1(flags) (EPILOGUE_OPERANDS > 1 && (flags) & SNIPPET)
#define DEFINE_FINISH(T, name)                                                                          \
  EPILOGUE(T, name##_snippet)                                                                           \
  static inline T name(const T v, const T first, const T second, const Finish* f, const int flags) {    \
    return flags & SNIPPET ? name##_snippet(v, first, second, f->s) : v;                                \
  }
#else
#define READS_E0(flags) ((flags) & ADD_E0)
#define READS_E1(flags) 0
#define DEFINE_FINISH(T, name)                                                                          \
  static inline T name(const T v, const T first, const T second, const Finish* f, const int flags) {    \
    const T sum = flags & ADD_E0 ? v + first : v;                                                       \
    if (flags & RELU) return sum <= (T)(0.0f) ? (T)(0.0f) : sum; /* NaN stays. */                       \
    return sum;                                                                                         \
  }
#endif
