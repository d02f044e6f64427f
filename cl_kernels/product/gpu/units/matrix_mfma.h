// AMD Instinct (from gfx908 on): v_mfma_f32_16x16x16 with waves of 64. The layout is from the AMD matrix instruction
// calculator. The operands are exchanged, so that an item's numbers are in a row of C. tf32 needs gfx942.
//
// The tests read the first part as C++.
#include "product/gpu/units/kinds.h"
#define LANES LANES_MFMA
#define STEP_WORDS 8
#define FM 16
#define FN 16
#define ACC 4
#define RUN RUN_MFMA

INLINE int acc_row(int i, int lane) { return lane % 16; }
INLINE int acc_column(int i, int lane) { return lane / 16 * 4 + i; }

// A lane holds two words of this row (column) of either operand. a_word_of is the first of them.
INLINE int a_row_of(int lane) { return lane % 16; }
INLINE int a_word_of(int lane) { return lane / 16 * 2; }

#if !defined(EMULATED) && !defined(__cplusplus)
#if PRECISION == PRECISION_TF32 && !defined(__gfx940__) && !defined(__gfx941__) && !defined(__gfx942__)
#error "the device does not multiply in tf32"
#endif
#if PRECISION == PRECISION_FP16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif
typedef uint2 FragmentA;
typedef uint2 FragmentB;

INLINE uint2 fragment_a(__local const uint* operand, int row, int step) {
  const int lane = get_local_id(0), word = step * STEP_WORDS + a_word_of(lane);
  return *(__local const uint2*)(operand + row * 16 + place_of_word(a_row_of(lane), word));
}
#define fragment_b fragment_a

INLINE void fragment_multiply(float* acc, FragmentA a, FragmentB b) {
  const float4 sum = vload4(0, acc);
#if PRECISION == PRECISION_TF32
  vstore4(__builtin_amdgcn_mfma_f32_16x16x8_xf32(as_float2(b), as_float2(a), sum, 0, 0, 0), 0, acc);
#elif PRECISION == PRECISION_FP16
  vstore4(__builtin_amdgcn_mfma_f32_16x16x16f16(as_half4(b), as_half4(a), sum, 0, 0, 0), 0, acc);
#else
  vstore4(__builtin_amdgcn_mfma_f32_16x16x16bf16_1k(as_short4(b), as_short4(a), sum, 0, 0, 0), 0, acc);
#endif
}
#endif
