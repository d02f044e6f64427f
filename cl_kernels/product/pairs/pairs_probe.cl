// Tests whether the compiler and the device know an instruction of product/pairs/pairs.h. y[i] = 1 - 127 i - i i.
#include "probe/x86_features.h"
#include "product/pairs/pairs.h"

// Asks Linux for the permission to use tiles, which a process has then until its end: arch_prctl (158) with
// ARCH_REQ_XCOMP_PERM (0x1023) for the state of tiles (18).
INLINE bool may_use_tiles() {
  long result = -1;
  __asm__ volatile(SAVE
                   "push %%rdi\n\tpush %%rsi\n\tpush %%r11\n\t"
                   "mov $158, %%eax\n\tmov $0x1023, %%edi\n\tmov $18, %%esi\n\tsyscall\n\t"
                   "pop %%r11\n\tpop %%rsi\n\tpop %%rdi\n\tpop %%rcx\n\tmov %%rax, (%%rcx)" RESTORE ::"r"(&result)
                   : "memory");
  return result == 0;
}

// Whether the processor has the instruction, and the process may use it. The compiler's target may be an older
// processor than the device.
INLINE bool has_instruction() {
#if defined(TDPBF16PS)
  const uint units = 1u << 22 | 1u << 24;  // Products of bf16, and tiles.
  return (features().y & units) == units && may_use_tiles();
#elif defined(VPDPWSSD) && defined(__AVX512BW__)
  return (features().x >> 11 & 1) != 0;
#elif defined(VPDPWSSD)
  return false;
#else
  return true;  // Or there is no builtin for it.
#endif
}

#ifdef TDPBF16PS
// y has places for the operands behind the result: a row of two pairs, and a panel.
__kernel void pairs_probe(__global int* y, const ulong y_offset) {
  if (!has_instruction()) return;
  __global int *a = y + y_offset + 16, *b = a + 16;
  for (int i = 0; i < 16; ++i) {
    a[i] = i == 0 ? pair_of(-127, -1) : 0;
    b[i] = pair_of(i, i * i);
    b[i + 16] = pair_of(1, 1);
  }
  int16 sums[TILE_ROWS][2];
  multiply_tile(sums, a, 2, 1, b, 1, 2);
  STORE_16(int, sums[0][0] + 1, y + y_offset);
}
#else
__kernel void pairs_probe(__global int* y, const ulong y_offset) {
  if (!has_instruction()) return;
  int numbers[16];
  for (int i = 0; i < PAIR_LANES; ++i) numbers[i] = i;
  const pairv lanes = JOIN(vload, PAIR_LANES)(0, numbers);
  const pairv sums = add_pairs(1, (lanes & 0xffff) | -lanes << 16, (-127 & 0xffff) | lanes << 16);
  JOIN(vstore, PAIR_LANES)(sums, 0, y + y_offset);
}
#endif
