// The f32 value of a bf16 parameter, kept as the parameter and 16 more bits. The upper half of a float is its nearest
// bfloat p, or the neighbour of p towards zero. So p's bits and a signed remainder give all bits of the float:
//
//   split   p = the float, rounded to nearest even;  remainder = bits of the float - bits of p
//   join    bits of the float = bits of p + remainder
//
// A float in the middle of two bfloats moves by one unit in its last place towards p. So the remainder is within
// ±0x7fff, and each p and remainder give a float that rounds to p. A program may thus write p after the split. If there
// is no such float, as for NaN and for zero with a negative remainder, join gives p.
#include "optim/optimizer.h"

STEP_KERNEL void master_join(__global const STORED* restrict values, const ulong values_offset,
                             __global const STORED* restrict remainders, const ulong remainders_offset,
                             __global float* restrict master, const ulong master_offset, const long count) {
  values += values_offset;
  remainders += remainders_offset;
  master += master_offset;
  FOR_EACH_VECTOR(at, count) {
    const int n = (int)min((long)VW, count - at);
    const intv bits = as_intv(load_elements(values + at, n));
    const intv remainder = as_intv(load_elements(remainders + at, n)) >> 16;
    const intv magnitude = (bits & 0x7fffffff) + remainder;
    const intv joined = select(bits, bits + remainder, magnitude >= 0 && magnitude < 0x7f800000);
    store_lanes(as_floatv(joined), n, master + at);
  }
}

// Stores the lower halves of the first n lanes.
static inline void store_lower(intv v, int n, __global STORED* p) {
  if (n >= VW) {
    *(__global unaligned_ushortv*)p = RESIZED(JOIN(ushort, VW), v);
    return;
  }
  int lanes[VW];
  vstorev(v, 0, lanes);
  FEW_TIMES
  for (int i = 0; i < n; ++i) p[i] = (STORED)lanes[i];
}

STEP_KERNEL void master_split(__global const float* restrict master, const ulong master_offset,
                              __global STORED* restrict values, const ulong values_offset,
                              __global STORED* restrict remainders, const ulong remainders_offset, const long count) {
  master += master_offset;
  values += values_offset;
  remainders += remainders_offset;
  FOR_EACH_VECTOR(at, count) {
    const int n = (int)min((long)VW, count - at);
    const floatv value = load_lanes(master + at, n);
    store_elements(value, n, values + at);
    const intv rounded = as_intv(load_elements(values + at, n));
    store_lower(clamp(as_intv(value) - rounded, -0x7fff, 0x7fff), n, remainders + at);
  }
}
