// Running sums of exponentials, and their gradient, along the middle axis of contiguous tensors (outer, n, inner) whose
// elements are stored as STORED:
//
//   logcumsumexp           y[j] = log (exp x[0] + … + exp x[j])
//   logcumsumexp_backward  dx[j] = exp(x[j] - y[j]) s[j] with s[j] = dy[j] + exp(y[j] - y[j + 1]) s[j + 1]
//
// No exponential is above 1, because y never falls and x is not above y.
#include "common/element.h"
#include "common/two_sum.h"
#include "reduce/lines.h"

// T is the type of the computation: float, or double if the elements are double.
#ifndef T
#define T float
#endif

__kernel void logcumsumexp(__global const STORED* restrict x, const ulong x_offset, __global STORED* restrict y,
                           const ulong y_offset, const LineParameters sizes, const long first, const long end) {
  FOR_LINES {
    __global const STORED* from = x + x_offset + START_OF_LINE;
    __global STORED* to = y + y_offset + START_OF_LINE;
    // The sum of the exponentials is exp(top) (sum + lost).
    T top = -INFINITY, sum = 0, lost = 0;
    if (first > 0) {
      top = LOAD(STORED, to, (first - 1) * inner);
      sum = 1;
    }
    for (long j = first; j < end; ++j) {
      const T value = LOAD(STORED, from, j * inner);
      T term = value == top ? (T)1 : exp(-fabs(value - top));  // Infinities may be equal.
      if (!(value <= top)) {
        sum *= term;
        lost *= term;
        top = value;
        term = 1;
      }
      TWO_SUM(T, sum, lost, term)
      STORE(STORED, to, j * inner, top + log(WITH_LOST(sum, lost)));
    }
  }
}

// `sums` keeps s of each line for the next launch.
__kernel void logcumsumexp_backward(__global const STORED* restrict dy, const ulong dy_offset,
                                    __global const STORED* restrict x, const ulong x_offset,
                                    __global const STORED* restrict y, const ulong y_offset,
                                    __global STORED* restrict dx, const ulong dx_offset, __global T* restrict sums,
                                    const ulong sums_offset, const LineParameters sizes, const long first,
                                    const long end) {
  FOR_LINES {
    const long start = START_OF_LINE;
    T sum = 0, next = INFINITY;
    if (end < n) {
      sum = sums[sums_offset + line];
      next = LOAD(STORED, y + y_offset + start, end * inner);
    }
    for (long j = end - 1; j >= first; --j) {
      const T at = LOAD(STORED, y + y_offset + start, j * inner);
      const T more = LOAD(STORED, dy + dy_offset + start, j * inner);
      sum = j + 1 < n ? more + exp(at - next) * sum : more;
      next = at;
      STORE(STORED, dx + dx_offset + start, j * inner, sum * exp(LOAD(STORED, x + x_offset + start, j * inner) - at));
    }
    sums[sums_offset + line] = sum;
  }
}
