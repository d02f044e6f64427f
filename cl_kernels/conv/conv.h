// The sizes of a convolution, as kernels get them.
typedef struct {
  long images, channels, height, width;        // x (N, C, H, W)
  long outputs, out_h, out_w;                  // y (N, K, OH, OW)
  long groups, group_channels, group_outputs;  // C / groups, K / groups
  int r, s;                                    // the kernel
  int stride_h, stride_w, pad_h, pad_w, dil_h, dil_w;
} Conv;

// sizes = (N, C, H, W, K, OH, OW, groups), window = (R, S, stride, padding, dilation: h and w each).
static inline Conv conv_of(long8 sizes, long8 window) {
  const Conv c = {sizes.s0, sizes.s1, sizes.s2, sizes.s3, sizes.s4, sizes.s5, sizes.s6, sizes.s7, sizes.s1 / sizes.s7,
                  sizes.s4 / sizes.s7, (int)window.s0, (int)window.s1, (int)window.s2, (int)window.s3, (int)window.s4,
                  (int)window.s5, (int)window.s6, (int)window.s7};
  return c;
}

// Returns the index along an axis of `size` for the flat index *rest. *rest becomes the flat index over the outer axes.
// A 64-bit division takes some hundred instructions on a GPU, so small numbers are divided in 32 bits.
static inline long take_index(long* rest, long size) {
  const long outer = (*rest | size) >> 31 == 0 ? (long)((uint)*rest / (uint)size) : *rest / size;
  const long index = *rest - outer * size;
  *rest = outer;
  return index;
}

// The output that has a tap at `position` = output * stride. It is -1 if none of the outputs 0 … count-1 has this
// position.
static inline long output_at(long position, int stride, long count) {
  if (position < 0) return -1;
  long output = position;
  const bool hit = stride == 1 || take_index(&output, stride) == 0;
  return hit && output < count ? output : -1;
}
