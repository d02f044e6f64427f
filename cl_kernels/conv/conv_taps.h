// Taps of a window of at most 16 x 15 as bits: row r as 1 << r, column s as 1 << (16 + s), so that one `and` says whether a
// tap lies in the padding of a place whose bits are those of all taps outside of the plane.
#include "common/inline.h"

#define NO_TAP 0x80000000u  // Set for every place: a tap that is none lies outside everywhere.

// Which of the taps at from, from + step, … lie outside of an axis.
INLINE uint axis_outside(int from, int step, int taps, int size) {
  uint bits = 0;
  for (int tap = 0; tap < taps; ++tap, from += step) bits |= (uint)((uint)from >= (uint)size) << tap;
  return bits;
}

INLINE uint taps_outside(int h, int w, int tap_h, int tap_w, int taps_h, int taps_w, int height, int width) {
  return NO_TAP | axis_outside(h, tap_h, taps_h, height) | axis_outside(w, tap_w, taps_w, width) << 16;
}

INLINE uint tap_bits(uint r, uint s) { return 1u << r | 0x10000u << s; }
