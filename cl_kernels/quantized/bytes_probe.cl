// Tests whether the processor has vpdpbusd of AVX-512 VNNI, and the system lets the process use its registers. y has
// places for 16 results, and behind them for the codes and bytes of x. y[i] = 4 i (i - 100) + 6 (i - 100).
#include "common/vector.h"
#include "probe/x86_features.h"

__kernel void bytes_probe(__global int* y, const ulong y_offset) {
  if ((features().x >> 11 & 1) == 0 || !has_long_vectors()) return;
  y += y_offset;
  for (int i = 0; i < 16; ++i) {
    y[16 + i] = i * 0x01010101 + 0x00010203;
    y[32 + i] = (i - 100 & 0xff) * 0x01010101;
  }
  __asm__ volatile(
      "lea -128(%%rsp), %%rsp\n\tsub $192, %%rsp\n\t"
      ".irp i,0,1,2\n\tvmovdqu64 %%zmm\\i, \\i*64(%%rsp)\n\t.endr\n\t"
      "vpxord %%zmm0, %%zmm0, %%zmm0\n\t"
      "vmovdqu64 64(%0), %%zmm1\n\t"
      "vmovdqu64 128(%0), %%zmm2\n\t"
      "vpdpbusd %%zmm2, %%zmm1, %%zmm0\n\t"
      "vmovdqu64 %%zmm0, (%0)\n\t"
      ".irp i,0,1,2\n\tvmovdqu64 \\i*64(%%rsp), %%zmm\\i\n\t.endr\n\t"
      "add $192, %%rsp\n\tlea 128(%%rsp), %%rsp" ::"r"(y)
      : "memory", "cc");
}
