// The transforms of Winograd's filtering along one axis, for numbers or vectors (`real`). F(4, 3) has the points 0, a,
// -a, b, -b and infinity. Its matrices are in conv/cpu/conv2d_winograd.cl and conv2d_winograd_weight.cl. F(2, 3)
// has the points 0, 1, -1 and infinity, and these matrices:
//
//        | 1  0 -1  0 |        |  1    0    0  |
//   B' = | 0  1  1  0 |    G = | 1/2  1/2  1/2 |   A' = | 1  1  1  0 |
//        | 0 -1  1  0 |        | 1/2 -1/2  1/2 |        | 0  1 -1 -1 |
//        | 0  1  0 -1 |        |  0    0    1  |
#include "common/fma.h"
#include "common/inline.h"

// a and b are near 1, and their powers are exact in fp32. So the transforms enlarge rounding errors little. Measured:
// with 64 channels the error is 2.2 times the error of a direct sum, and 4.7 times with the points 1 and 2. The error
// of a weight's gradient is 1.5 and 3.6 times the direct one.
#define POINT_A 0.625f
#define POINT_B 1.5f
#define A_SQUARE (POINT_A * POINT_A)
#define B_SQUARE (POINT_B * POINT_B)
// The products of the differences between a point and the other points. Each row of G is divided by one of them.
#define ZERO_SCALE (1.0f / (A_SQUARE * B_SQUARE))
#define A_SCALE (0.5f / (A_SQUARE * (A_SQUARE - B_SQUARE)))
#define B_SCALE (0.5f / (B_SQUARE * (B_SQUARE - A_SQUARE)))

// factor x + y.
#define ADD_SCALED(factor, x, y) FMA((real)(factor), x, y)

// The transforms work in place, on arrays. Mesa 25.0.7 computes wrong values from structs that are copied and then
// written again (docs/implementations.md).

// B' d.
INLINE void input_transform(real d[6]) {
  const real p = ADD_SCALED(-B_SQUARE, d[2], d[4]), q = ADD_SCALED(-B_SQUARE, d[1], d[3]);
  const real r = ADD_SCALED(-A_SQUARE, d[2], d[4]), s = ADD_SCALED(-A_SQUARE, d[1], d[3]);
  d[0] = ADD_SCALED(A_SQUARE, ADD_SCALED(B_SQUARE, d[0], -d[2]), p);
  d[5] = ADD_SCALED(A_SQUARE, ADD_SCALED(B_SQUARE, d[1], -d[3]), ADD_SCALED(-B_SQUARE, d[3], d[5]));
  d[1] = ADD_SCALED(POINT_A, q, p);
  d[2] = ADD_SCALED(-POINT_A, q, p);
  d[3] = ADD_SCALED(POINT_B, s, r);
  d[4] = ADD_SCALED(-POINT_B, s, r);
}

// A' m. The first four values are the result.
INLINE void output_transform(real m[6]) {
  const real p = m[1] + m[2], q = POINT_A * (m[1] - m[2]), r = m[3] + m[4], s = POINT_B * (m[3] - m[4]);
  m[0] = m[0] + p + r;
  m[1] = q + s;
  m[2] = ADD_SCALED(A_SQUARE, p, B_SQUARE * r);
  m[3] = ADD_SCALED(A_SQUARE, q, ADD_SCALED(B_SQUARE, s, m[5]));
}

// G g, where g has three values.
INLINE void kernel_transform(real g[6]) {
  const real p = ADD_SCALED(A_SQUARE, g[2], g[0]), q = POINT_A * g[1];
  const real r = ADD_SCALED(B_SQUARE, g[2], g[0]), s = POINT_B * g[1];
  g[0] = ZERO_SCALE * g[0];
  g[5] = g[2];
  g[1] = A_SCALE * (p + q);
  g[2] = A_SCALE * (p - q);
  g[3] = B_SCALE * (r + s);
  g[4] = B_SCALE * (r - s);
}

// G e, where e has four values.
INLINE void piece_transform(real e[6]) {
  const real p = ADD_SCALED(A_SQUARE, e[2], e[0]), q = POINT_A * ADD_SCALED(A_SQUARE, e[3], e[1]);
  const real r = ADD_SCALED(B_SQUARE, e[2], e[0]), s = POINT_B * ADD_SCALED(B_SQUARE, e[3], e[1]);
  e[0] = ZERO_SCALE * e[0];
  e[5] = e[3];
  e[1] = A_SCALE * (p + q);
  e[2] = A_SCALE * (p - q);
  e[3] = B_SCALE * (r + s);
  e[4] = B_SCALE * (r - s);
}

// A' m of a gradient. The first three values are the result.
INLINE void kernel_gradient(real m[6]) {
  const real p = m[1] + m[2], q = m[1] - m[2], r = m[3] + m[4], s = m[3] - m[4];
  m[0] = m[0] + p + r;
  m[1] = ADD_SCALED(POINT_A, q, POINT_B * s);
  m[2] = ADD_SCALED(A_SQUARE, p, ADD_SCALED(B_SQUARE, r, m[5]));
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
