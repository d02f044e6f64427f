// The positions of values in a sorted list of `count` elements. y[i] is the number of elements that are below
// values[i]. With RIGHT, elements equal to values[i] count too. NaN is above every number. A work-item takes the values
// first … first + chunk - 1.
#ifndef T
#define T float
#endif
#ifndef RIGHT
#define RIGHT 0
#endif

// NaN counts as above every number. For integers, x != x is always false.
#define BELOW(a, b) ((a) < (b) || ((b) != (b) && (a) == (a)))

__kernel void searchsorted(__global const T* restrict sorted, const ulong sorted_offset,
                           __global const T* restrict values, const ulong values_offset, __global long* restrict y,
                           const ulong y_offset, const long elements, const long count, const long chunk) {
  const long first = get_global_id(0) * chunk;
  const long end = min(first + chunk, elements);
  sorted += sorted_offset;
  for (long i = first; i < end; ++i) {
    const T value = values[values_offset + i];
    long low = 0;
    long high = count;
    while (low < high) {
      const long middle = low + (high - low) / 2;
      const T element = sorted[middle];
      const int goes_on = RIGHT ? !BELOW(value, element) : BELOW(element, value);
      low = goes_on ? middle + 1 : low;
      high = goes_on ? high : middle;
    }
    y[y_offset + i] = low;
  }
}
