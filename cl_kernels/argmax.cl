// y[o] = the first r with x[o, r] == largest[o] (or, where that is NaN, with x[o, r] NaN). Axes as in reduce.cl; one
// work-item an output, which stops where it finds the element.
__kernel void find_first(__global const float* restrict x, const ulong x_offset, __global const float* restrict largest,
                         const ulong largest_offset, __global long* restrict y, const ulong y_offset,
                         const long8 kept_shape, const long8 kept_strides, const int kept_rank,
                         const long8 reduced_shape, const long8 reduced_strides, const int reduced_rank,
                         const long outputs, const long reduced) {
  const long o = get_global_id(0);
  if (o >= outputs) return;
  long size[8], stride[8], index[8];
  vstore8(kept_shape, 0, size);
  vstore8(kept_strides, 0, stride);
  x += x_offset;
  long rest = o;
  for (int d = kept_rank - 1; d >= 0; --d) {
    x += rest % size[d] * stride[d];
    rest /= size[d];
  }
  vstore8(reduced_shape, 0, size);
  vstore8(reduced_strides, 0, stride);
  for (int d = 0; d < 8; ++d) index[d] = 0;
  const float wanted = largest[largest_offset + o];
  long r = 0;
  for (; r + 1 < reduced; ++r) {
    if (*x == wanted || isnan(*x)) break;
    for (int d = reduced_rank - 1; d >= 0; --d) {
      x += stride[d];
      if (++index[d] < size[d]) break;
      x -= size[d] * stride[d];
      index[d] = 0;
    }
  }
  y[y_offset + o] = r;
}
