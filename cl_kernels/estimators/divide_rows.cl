// Rows (rows, columns) divided by their largest number (NORM 0), the sum of their magnitudes (1), or their length (2). A
// row whose divisor is 0 stays. The length is computed of numbers divided by the largest magnitude, so that squares are
// not too large or too small. A work-item takes the rows first … first + chunk - 1. With SHORT, a row is a vector of VW lanes at least.
#ifndef NORM
#define NORM 2
#endif
#ifndef SHORT
#define SHORT 0
#endif

#if SHORT
#include "common/lanes.h"

#define LANES_TO_ONE(name, OP)                                       \
  INLINE float name##2(const float2 v) { return OP(v.x, v.y); }      \
  INLINE float name##4(const float4 v) { return name##2(OP(v.lo, v.hi)); } \
  INLINE float name##8(const float8 v) { return name##4(OP(v.lo, v.hi)); } \
  INLINE float name##16(const float16 v) { return name##8(OP(v.lo, v.hi)); }
#define SUM_OF_TWO(a, b) ((a) + (b))
LANES_TO_ONE(largest, fmax)
LANES_TO_ONE(sum, SUM_OF_TWO)
#define largest_of JOIN(largest, VW)
#define sum_of JOIN(sum, VW)

INLINE float divisor_of_lanes(const floatv v, const intv is_there) {
  const floatv size = NORM == 0 ? v : fabs(v);
  const float largest = largest_of(is_there ? size : (floatv)(-INFINITY));
#if NORM == 0
  return largest;
#elif NORM == 1
  return sum_of(size);
#else
  const float scale = largest == 0.0f || isinf(largest) ? 1.0f : largest;
  const floatv part = v / scale;
  return sqrt(sum_of(part * part)) * scale;
#endif
}

CPU_KERNEL void divide_short_rows(__global const float* restrict x, const ulong x_offset, __global float* restrict y,
                                  const ulong y_offset, const long rows, const long columns, const long chunk) {
  const long first = get_global_id(0) * chunk;
  const long end = min(first + chunk, rows);
  const int count = (int)columns;
  const intv is_there = LANES < (intv)(count);
  for (long row = first; row < end; ++row) {
    const floatv v = load_lanes(x + x_offset + row * columns, count);
    const float divisor = divisor_of_lanes(v, is_there);
    store_lanes(divisor == 0.0f ? v : v / divisor, count, y + y_offset + row * columns);
  }
}
#else

static inline float divisor_of(__global const float* row, const long columns) {
  float largest = NORM == 0 ? row[0] : fabs(row[0]);
  for (long i = 1; i < columns; ++i) largest = fmax(largest, NORM == 0 ? row[i] : fabs(row[i]));
#if NORM == 0
  return largest;
#else
  float sum = 0.0f;
  const float scale = NORM == 1 || largest == 0.0f || isinf(largest) ? 1.0f : largest;
  for (long i = 0; i < columns; ++i) {
    const float v = row[i] / scale;
    sum += NORM == 1 ? fabs(v) : v * v;
  }
  return NORM == 1 ? sum : sqrt(sum) * scale;
#endif
}

__kernel void divide_rows(__global const float* restrict x, const ulong x_offset, __global float* restrict y,
                          const ulong y_offset, const long rows, const long columns, const long chunk) {
  const long first = get_global_id(0) * chunk;
  const long end = min(first + chunk, rows);
  for (long row = first; row < end; ++row) {
    __global const float* from = x + x_offset + row * columns;
    __global float* to = y + y_offset + row * columns;
    const float divisor = divisor_of(from, columns);
    for (long i = 0; i < columns; ++i) to[i] = divisor == 0.0f ? from[i] : from[i] / divisor;
  }
}
#endif
