// Tests whether the compiler and the device know an instruction of product/pairs/pairs.h. y[i] = 1 - 127 i - i i.
#include "product/pairs/pairs.h"

// Whether the processor has the instruction. The compiler's target may be an older processor than the device.
INLINE bool has_instruction() {
#ifndef VPDPWSSD
  return true;  // Or there is no builtin for it.
#elif defined(__AVX512BW__)
  uint leaf = 7, b, c = 0, d;
  __asm__ volatile("cpuid" : "+a"(leaf), "=b"(b), "+c"(c), "=d"(d));
  return (c >> 11 & 1) != 0;
#else
  return false;
#endif
}

__kernel void pairs_probe(__global int* y, const ulong y_offset) {
  if (!has_instruction()) return;
  int numbers[16];
  for (int i = 0; i < PAIR_LANES; ++i) numbers[i] = i;
  const pairv lanes = JOIN(vload, PAIR_LANES)(0, numbers);
  const pairv sums = add_pairs(1, (lanes & 0xffff) | -lanes << 16, (-127 & 0xffff) | lanes << 16);
  JOIN(vstore, PAIR_LANES)(sums, 0, y + y_offset);
}
