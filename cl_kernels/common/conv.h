// The sizes of a convolution, as kernels get them.
typedef struct {
  long images, channels, height, width;          // x (N, C, H, W)
  long outputs, out_h, out_w;                    // y (N, K, OH, OW)
  long groups, group_channels, group_outputs;    // C / groups, K / groups
  int r, s;                                      // the kernel
  int stride_h, stride_w, pad_h, pad_w, dil_h, dil_w;
} Conv;

inline Conv conv_of(long8 sizes, long8 window) {
  const Conv c = {sizes.s0, sizes.s1, sizes.s2, sizes.s3, sizes.s4, sizes.s5, sizes.s6, sizes.s7, sizes.s1 / sizes.s7,
                  sizes.s4 / sizes.s7, (int)window.s0, (int)window.s1, (int)window.s2, (int)window.s3, (int)window.s4,
                  (int)window.s5, (int)window.s6, (int)window.s7};
  return c;
}
