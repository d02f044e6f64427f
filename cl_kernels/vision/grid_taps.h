// The positions that grid_sample reads, computed as in PyTorch: for each axis, TAPS positions of the input with
// weights.
#include "common/real.h"
#include "vision/parameters.h"

#ifndef TAPS
#define TAPS 2
#endif

typedef struct {
  int at[TAPS];  // Positions in 0 … size-1. -1 is outside of the input and reads as zero.
  REAL weight[TAPS];
  REAL slope[TAPS];  // The derivative of the weight with respect to the coordinate.
} Taps;

// x reflected between `low` and low + span. *sign becomes the derivative, 1 or -1.
static inline REAL reflected(REAL x, REAL low, REAL span, REAL* sign) {
  if (span <= 0.0f) {
    *sign = 0.0f;
    return 0.0f;
  }
  const REAL distance = fabs(x - low);
  const REAL extra = fmod(distance, span);
  const bool even = fmod(floor(distance / span), (REAL)2) == 0.0f;
  *sign = (x < low) == even ? -1.0f : 1.0f;
  return even ? low + extra : low + span - extra;
}

// Moves a coordinate into the input, unless PADDING_ZEROS is set. *sign becomes the derivative: 1, -1, or 0 at and
// beyond a border.
static inline REAL moved_inside(REAL x, int size, int padding, int align_corners, REAL* sign) {
  *sign = 1.0f;
  if (padding == PADDING_ZEROS) return x;
  if (padding == PADDING_REFLECTION)
    x = align_corners ? reflected(x, 0.0f, (REAL)size - 1, sign) : reflected(x, -0.5f, (REAL)size, sign);
  const REAL inside = x > 0.0f ? min(x, (REAL)size - 1) : 0.0f;  // NaN becomes 0.
  if (x <= 0.0f || x >= (REAL)size - 1) *sign = 0.0f;
  return inside;
}

// x as a position, or -1 if it is outside. The comparison is false for NaN, and for numbers that no int holds.
static inline int position_of(REAL x, int size) { return x >= 0.0f && x <= (REAL)size - 1 ? (int)x : -1; }

// The weights of bicubic interpolation for a distance t from the second of four neighbours, and their derivatives.
static inline void cubic_taps(REAL t, REAL scale, Taps* taps) {
  const REAL a = -0.75f;
  const REAL d[4] = {t + 1.0f, t, 1.0f - t, 2.0f - t};
  for (int i = 0; i < 4 && i < TAPS; ++i) {
    const bool is_near = i == 1 || i == 2;
    const REAL u = d[i];
    const REAL towards = i < 2 ? scale : -scale;  // `scale`, with the sign of d[i]'s derivative.
    taps->weight[i] =
        is_near ? ((a + 2.0f) * u - (a + 3.0f)) * u * u + 1.0f : ((a * u - 5.0f * a) * u + 8.0f * a) * u - 4.0f * a;
    taps->slope[i] = towards * (is_near ? (3.0f * (a + 2.0f) * u - 2.0f * (a + 3.0f)) * u
                                        : (3.0f * a * u - 10.0f * a) * u + 8.0f * a);
  }
}

// The taps of one coordinate of the grid.
static inline Taps taps_of(REAL coordinate, int size, int padding, int align_corners, int in_elements) {
  Taps taps;
  const REAL scale = in_elements ? 1.0f : (align_corners ? (REAL)size - 1 : (REAL)size) * 0.5f;
  const REAL place = in_elements ? coordinate : (coordinate + 1.0f) * scale - (align_corners ? 0.0f : 0.5f);
  REAL sign;
#if TAPS == 4
  const REAL first = floor(place) - 1.0f;
  cubic_taps(place - floor(place), scale, &taps);
  for (int i = 0; i < 4; ++i)
    taps.at[i] = position_of(moved_inside(first + i, size, padding, align_corners, &sign), size);
#else
  const REAL inside = moved_inside(place, size, padding, align_corners, &sign);
#if TAPS == 2
  const REAL below = floor(inside);
  taps.at[0] = position_of(below, size);
  taps.at[1] = position_of(below + 1.0f, size);
  taps.weight[1] = inside - below;
  taps.weight[0] = 1.0f - taps.weight[1];
  taps.slope[1] = sign * scale;
  taps.slope[0] = -taps.slope[1];
#else
  taps.at[0] = position_of(rint(inside), size);
  taps.weight[0] = 1.0f;
  taps.slope[0] = 0.0f;
#endif
#endif
  return taps;
}
