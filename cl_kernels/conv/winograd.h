// The transforms of Winograd's filtering along one axis, for numbers or vectors (`real`). F(4, 3) has the points 0, 1,
// -1, 2, -2 and infinity. Its matrices are in conv/cpu/conv2d_winograd.cl and conv2d_winograd_weight.cl. F(2, 3)
// has the points 0, 1, -1 and infinity, and these matrices:
//
//        | 1  0 -1  0 |        |  1    0    0  |
//   B' = | 0  1  1  0 |    G = | 1/2  1/2  1/2 |   A' = | 1  1  1  0 |
//        | 0 -1  1  0 |        | 1/2 -1/2  1/2 |        | 0  1 -1 -1 |
//        | 0  1  0 -1 |        |  0    0    1  |
#include "common/inline.h"

// The transforms work in place, on arrays. Mesa 25.0.7 computes wrong values from structs that are copied and then
// written again (docs/implementations.md).

// B' d.
INLINE void input_transform(real d[6]) {
  const real a = d[4] - 4.0f * d[2], b = d[3] - 4.0f * d[1];
  const real c = d[4] - d[2], e = 2.0f * (d[3] - d[1]);
  d[0] = 4.0f * d[0] - 5.0f * d[2] + d[4];
  d[5] = 4.0f * d[1] - 5.0f * d[3] + d[5];
  d[1] = a + b;
  d[2] = a - b;
  d[3] = c + e;
  d[4] = c - e;
}

// A' m. The first four values are the result.
INLINE void output_transform(real m[6]) {
  const real p = m[1] + m[2], q = m[1] - m[2], r = m[3] + m[4], s = m[3] - m[4];
  m[0] = m[0] + p + r;
  m[1] = q + 2.0f * s;
  m[2] = p + 4.0f * r;
  m[3] = q + 8.0f * s + m[5];
}

// G g, where g has three values.
INLINE void kernel_transform(real g[6]) {
  const real a = (g[0] + g[2]) * (1.0f / 6), b = g[1] * (1.0f / 6);
  const real c = g[0] * (1.0f / 24) + g[2] * (1.0f / 6), d = g[1] * (1.0f / 12);
  g[0] = 0.25f * g[0];
  g[5] = g[2];
  g[1] = -a - b;
  g[2] = b - a;
  g[3] = c + d;
  g[4] = c - d;
}

// G e, where e has four values.
INLINE void piece_transform(real e[6]) {
  const real a = (e[0] + e[2]) * (1.0f / 6), b = (e[1] + e[3]) * (1.0f / 6);
  const real c = e[0] * (1.0f / 24) + e[2] * (1.0f / 6), d = e[1] * (1.0f / 12) + e[3] * (1.0f / 3);
  e[0] = 0.25f * e[0];
  e[5] = e[3];
  e[1] = -a - b;
  e[2] = b - a;
  e[3] = c + d;
  e[4] = c - d;
}

// A' m of a gradient. The first three values are the result.
INLINE void kernel_gradient(real m[6]) {
  const real p = m[1] + m[2], q = m[1] - m[2], r = m[3] + m[4], s = m[3] - m[4];
  m[0] = m[0] + p + r;
  m[1] = q + 2.0f * s;
  m[2] = p + 4.0f * r + m[5];
}

// F(2, 3): B' d; A' m, where the first two values are the result; and G g, where g has three values.
INLINE void four_input(real d[4]) {
  const real a = d[1] + d[2], b = d[2] - d[1];
  d[0] = d[0] - d[2];
  d[3] = d[1] - d[3];
  d[1] = a;
  d[2] = b;
}
INLINE void four_output(real m[4]) {
  const real p = m[1] - m[2];
  m[0] = m[0] + m[1] + m[2];
  m[1] = p - m[3];
}
INLINE void four_kernel(real g[4]) {
  const real a = 0.5f * (g[0] + g[2]), b = 0.5f * g[1];
  g[3] = g[2];
  g[1] = a + b;
  g[2] = a - b;
}
