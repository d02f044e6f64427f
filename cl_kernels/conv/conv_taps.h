// Taps of a window of at most 16 x 15 as bits: row r is 1 << r, and column s is 1 << (16 + s). A place has the bits of
// all taps that are outside of the plane there. One `and` then tells whether a tap is in the padding.
#include "common/inline.h"

#define NO_TAP 0x80000000u  // Set for every place, so that an entry without a tap is outside everywhere.

// The taps at from, from + step, … that are outside of an axis, as bits.
INLINE uint axis_outside(int from, int step, int taps, int size) {
  uint bits = 0;
  for (int tap = 0; tap < taps; ++tap, from += step) bits |= (uint)((uint)from >= (uint)size) << tap;
  return bits;
}

INLINE uint taps_outside(int h, int w, int tap_h, int tap_w, int taps_h, int taps_w, int height, int width) {
  return NO_TAP | axis_outside(h, tap_h, taps_h, height) | axis_outside(w, tap_w, taps_w, width) << 16;
}

INLINE uint tap_bits(uint r, uint s) { return 1u << r | 0x10000u << s; }
