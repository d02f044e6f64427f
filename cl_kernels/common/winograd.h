// The transforms of Winograd's filtering along one axis, of numbers or vectors (`real`): F(4, 3) with the points 0, 1, -1,
// 2, -2 and infinity, whose matrices cl_kernels/conv2d_winograd.cl and conv2d_winograd_weight.cl have, and F(2, 3) with the
// points 0, 1, -1 and infinity:
//
//        | 1  0 -1  0 |        |  1    0    0  |
//   B' = | 0  1  1  0 |    G = | 1/2  1/2  1/2 |   A' = | 1  1  1  0 |
//        | 0 -1  1  0 |        | 1/2 -1/2  1/2 |        | 0  1 -1 -1 |
//        | 0  1  0 -1 |        |  0    0    1  |
#include "common/inline.h"

typedef struct {
  real v[6];
} Six;

// B' d.
INLINE Six input_transform(const Six d) {
  const real a = d.v[4] - 4.0f * d.v[2], b = d.v[3] - 4.0f * d.v[1];
  const real c = d.v[4] - d.v[2], e = 2.0f * (d.v[3] - d.v[1]);
  const Six t = {{4.0f * d.v[0] - 5.0f * d.v[2] + d.v[4], a + b, a - b, c + e, c - e,
                  4.0f * d.v[1] - 5.0f * d.v[3] + d.v[5]}};
  return t;
}

// A' m: the first four are the result.
INLINE Six output_transform(const Six m) {
  const real p = m.v[1] + m.v[2], q = m.v[1] - m.v[2], r = m.v[3] + m.v[4], s = m.v[3] - m.v[4];
  const Six y = {{m.v[0] + p + r, q + 2.0f * s, p + 4.0f * r, q + 8.0f * s + m.v[5], q, q}};
  return y;
}

// G g, of which three are given.
INLINE Six kernel_transform(const Six g) {
  const real a = (g.v[0] + g.v[2]) * (1.0f / 6), b = g.v[1] * (1.0f / 6);
  const real c = g.v[0] * (1.0f / 24) + g.v[2] * (1.0f / 6), d = g.v[1] * (1.0f / 12);
  const Six u = {{0.25f * g.v[0], -a - b, b - a, c + d, c - d, g.v[2]}};
  return u;
}

// G e, of which four are given.
INLINE Six piece_transform(const Six e) {
  const real a = (e.v[0] + e.v[2]) * (1.0f / 6), b = (e.v[1] + e.v[3]) * (1.0f / 6);
  const real c = e.v[0] * (1.0f / 24) + e.v[2] * (1.0f / 6), d = e.v[1] * (1.0f / 12) + e.v[3] * (1.0f / 3);
  const Six u = {{0.25f * e.v[0], -a - b, b - a, c + d, c - d, e.v[3]}};
  return u;
}

// A' m of a gradient: the first three are the result.
INLINE Six kernel_gradient(const Six m) {
  const real p = m.v[1] + m.v[2], q = m.v[1] - m.v[2], r = m.v[3] + m.v[4], s = m.v[3] - m.v[4];
  const Six y = {{m.v[0] + p + r, q + 2.0f * s, p + 4.0f * r + m.v[5], q, q, q}};
  return y;
}

// F(2, 3): B' d, A' m, of which the first two are the result, and G g, of which three are given.
typedef struct {
  real v[4];
} Four;
INLINE Four four_input(const Four d) {
  const Four t = {{d.v[0] - d.v[2], d.v[1] + d.v[2], d.v[2] - d.v[1], d.v[1] - d.v[3]}};
  return t;
}
INLINE Four four_output(const Four m) {
  const real p = m.v[1] - m.v[2];
  const Four y = {{m.v[0] + m.v[1] + m.v[2], p - m.v[3], p, p}};
  return y;
}
INLINE Four four_kernel(const Four g) {
  const real a = 0.5f * (g.v[0] + g.v[2]), b = 0.5f * g.v[1];
  const Four u = {{g.v[0], a + b, a - b, g.v[2]}};
  return u;
}
