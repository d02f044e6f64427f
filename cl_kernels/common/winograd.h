// The transforms of Winograd's filtering with the points 0, 1, -1, 2, -2 and infinity; cl_kernels/conv2d_winograd.cl has
// the matrices.
#include "common/vector.h"

typedef struct {
  floatv v[6];
} Six;

// B' d.
INLINE Six input_transform(const Six d) {
  const floatv a = d.v[4] - 4.0f * d.v[2], b = d.v[3] - 4.0f * d.v[1];
  const floatv c = d.v[4] - d.v[2], e = 2.0f * (d.v[3] - d.v[1]);
  const Six t = {{4.0f * d.v[0] - 5.0f * d.v[2] + d.v[4], a + b, a - b, c + e, c - e,
                  4.0f * d.v[1] - 5.0f * d.v[3] + d.v[5]}};
  return t;
}
