// Tests whether the processor has vpdpbusd of AVX-512 VNNI, and the system lets the process use its registers. y has
// places for 16 results, and behind them for the codes and bytes of x. y[i] = 4 i (i - 100) + 6 (i - 100).
//
// With GFNI also vgf2p8affineqb, and vpshldd of AVX-512 VBMI2. Then y[i] is 2^8 times that sum plus i, and the upper
// halves of the four codes are added.
#include "common/vector.h"
#include "probe/x86_features.h"

#ifdef GFNI
#define INSTRUCTIONS (1u << 11 | 1u << 8 | 1u << 6)
#define MORE                                      \
  "vpshldd $8, %%zmm1, %%zmm0, %%zmm0\n\t"        \
  "vmovdqu64 192(%0), %%zmm2\n\t"                 \
  "vgf2p8affineqb $0, %%zmm2, %%zmm1, %%zmm1\n\t" \
  "vpaddd %%zmm1, %%zmm0, %%zmm0\n\t"
#else
#define INSTRUCTIONS (1u << 11)
#define MORE
#endif

__kernel void bytes_probe(__global int* y, const ulong y_offset) {
  if ((features().x & INSTRUCTIONS) != INSTRUCTIONS || !has_long_vectors()) return;
  y += y_offset;
  for (int i = 0; i < 16; ++i) {
    y[16 + i] = i * 0x01010101 + 0x00010203;
    y[32 + i] = (i - 100 & 0xff) * 0x01010101;
    y[48 + i] = i % 2 == 0 ? 0 : 0x10204080;
  }
  __asm__ volatile(
      "lea -128(%%rsp), %%rsp\n\tsub $192, %%rsp\n\t"
      ".irp i,0,1,2\n\tvmovdqu64 %%zmm\\i, \\i*64(%%rsp)\n\t.endr\n\t"
      "vpxord %%zmm0, %%zmm0, %%zmm0\n\t"
      "vmovdqu64 64(%0), %%zmm1\n\t"
      "vmovdqu64 128(%0), %%zmm2\n\t"
      "vpdpbusd %%zmm2, %%zmm1, %%zmm0\n\t" MORE
      "vmovdqu64 %%zmm0, (%0)\n\t"
      ".irp i,0,1,2\n\tvmovdqu64 \\i*64(%%rsp), %%zmm\\i\n\t.endr\n\t"
      "add $192, %%rsp\n\tlea 128(%%rsp), %%rsp" ::"r"(y)
      : "memory", "cc");
}
