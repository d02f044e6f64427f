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
#if defined(TDPBSSD)
  const uint units = 1u << 24 | 1u << 25;  // Tiles, and products of their bytes.
  return (features().y & units) == units && may_use_tiles();
#elif defined(VPDPWSSD) && defined(__AVX512BW__)
  return (features().x >> 11 & 1) != 0;
#elif defined(VPDPWSSD)
  return false;
#else
  return true;  // Or there is no builtin for it.
#endif
}

#ifdef TDPBSSD
// y has places for the operands behind the result: a row of one word, and a panel.
__kernel void pairs_probe(__global int* y, const ulong y_offset) {
  if (!has_instruction()) return;
  __global int *a = y + y_offset + 16, *b = a + ROW_SIZE(16);
  for (int i = 0; i < ROW_SIZE(16); ++i) a[i] = 0;
  for (int i = 0; i < PANEL_LINES(16) * 16; ++i) b[i] = 0;
  a[0] = as_int((char4)(-127, -1, -1, 0));
  for (int i = 0; i < 16; ++i) b[i] = as_int((char4)((char)i, (char)(i * i / 2), (char)(i * i - i * i / 2), 1));
  int16 sums[TILE_ROWS][2];
  int shape = 0;
  multiply_tile(sums, a, 1, b, 1, 16, &shape);
  end_tiles();
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
