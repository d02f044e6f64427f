// The positions of the elements that are not 0. flags[i] is 1 if element i is not 0, and counts[i] is the sum of the
// flags up to and with i. So element i is row counts[i] - 1 of y (rows, rank). The row holds a position for each axis.
// sizes[axis] is the size of an axis. A work-item takes the elements first … first + chunk - 1.

__kernel void nonzero(__global const uchar* restrict flags, const ulong flags_offset,
                      __global const long* restrict counts, const ulong counts_offset, __global long* restrict y,
                      const ulong y_offset, const long elements, const int rank, const long8 sizes,
                      const long chunk) {
  long size[8];
  vstore8(sizes, 0, size);
  const long first = get_global_id(0) * chunk;
  const long end = min(first + chunk, elements);
  for (long i = first; i < end; ++i) {
    if (flags[flags_offset + i] == 0) continue;
    __global long* row = y + y_offset + (counts[counts_offset + i] - 1) * rank;
    long rest = i;
    for (int axis = rank - 1; axis >= 0; --axis) {
      row[axis] = rest % size[axis];
      rest /= size[axis];
    }
  }
}
