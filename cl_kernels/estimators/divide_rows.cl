// Rows (rows, columns) divided by their largest number (NORM 0), the sum of their magnitudes (1), or their length (2). A
// row whose divisor is 0 stays. The length is computed of numbers divided by the largest magnitude, so that squares are
// not too large or too small. A work-item takes the rows first … first + chunk - 1.
#ifndef NORM
#define NORM 2
#endif

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
