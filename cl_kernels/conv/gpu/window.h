// The window of a convolution with AXES spatial axes: 2 (also for one axis, whose other axis has size 1), or 3.
//
// The taps of a window are bits. A position has a mask with the bits of all taps that are outside of the plane there.
// So one `and` tells whether a tap is in the padding. Two axes have at most WINDOW_ROWS x WINDOW_COLUMNS taps: row r is
// bit r, and column s is bit WINDOW_ROWS + s. Three axes have at most 10 taps each, with ten bits for each axis.
#include "common/inline.h"
#include "conv/parameters.h"
#include "conv/sizes.h"
#include "product/gpu/units/kinds.h"

#ifndef AXES
#define AXES 2
#endif
// With SKIPS_HIDDEN, values that are outside of the plane are not read and are 0 from the start. NVIDIA's assembler
// turns a branch over one read into a predicate, which costs little. On other devices a branch costs more than the
// alternative: read a value from a valid address, and replace it when it is used.
#ifndef SKIPS_HIDDEN
#if UNIT == UNIT_MMA_SM80 || UNIT == UNIT_MMA_SM75
#define SKIPS_HIDDEN 1
#else
#define SKIPS_HIDDEN 0
#endif
#endif
#define NO_TAP 0x80000000u  // This bit is set at every position, so an entry without a tap is outside everywhere.

// A tap: its slice q (0 with two axes), row r and column s.
typedef struct {
  uint q, r, s;
} Tap;

INLINE uint tap_bits(const Tap* tap) {
#if AXES == 3
  return 1u << tap->q | 1u << (10 + tap->r) | 1u << (20 + tap->s);
#else
  return 1u << tap->r | 1u << WINDOW_ROWS << tap->s;
#endif
}

// Finds the tap `index` of a window, counted (channels, q, r, s). Returns the number of windows before it.
INLINE uint find_tap(uint index, uint taps_d, uint taps_h, uint taps_w, Tap* tap) {
  const uint above = index / taps_w, slices = above / taps_h;
  tap->r = above - slices * taps_h;
  tap->s = index - above * taps_w;
#if AXES == 3
  const uint windows = slices / taps_d;
  tap->q = slices - windows * taps_d;
  return windows;
#else
  tap->q = 0;
  return slices;
#endif
}

// The taps at from, from + step, … that are outside of an axis, as bits.
INLINE uint axis_outside(int from, int step, int taps, int size) {
  uint bits = 0;
  for (int tap = 0; tap < taps; ++tap, from += step) bits |= (uint)((uint)from >= (uint)size) << tap;
  return bits;
}

// Returns the index in src of the first tap of a pixel of the result. The tap may be outside of the plane. *outside
// becomes the mask of the taps that are outside.
INLINE int first_element(uint pixel, const PatchesParameters* p, const WindowParameters* w, uint* outside) {
  int element = 0;
  *outside = NO_TAP;
#if AXES == 3
  const uint od = pixel / (uint)p->pixels_hw;
  const int at_d = (int)od * w->step_d + w->start_d;
  pixel -= od * (uint)p->pixels_hw;
  element = at_d * w->height * w->width;
  *outside |= axis_outside(at_d, w->tap_d, w->taps_d, w->depth);
#endif
  const uint oh = pixel / (uint)p->pixels_w, ow = pixel - oh * (uint)p->pixels_w;
  const int at_h = (int)oh * w->step_h + w->start_h, at_w = (int)ow * w->step_w + w->start_w;
  const uint rows = axis_outside(at_h, w->tap_h, w->taps_h, w->height);
  const uint columns = axis_outside(at_w, w->tap_w, w->taps_w, w->width);
  *outside |= AXES == 3 ? rows << 10 | columns << 20 : rows | columns << WINDOW_ROWS;
  return element + at_h * w->width + at_w;
}
