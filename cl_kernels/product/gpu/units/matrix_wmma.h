// AMD Radeon: v_wmma_f32_16x16x16 with waves of 32. The layout is from AMD's instruction set guides of RDNA 3 and 4.
// UNIT_WMMA is gfx11, where both halves of the wave hold the operands. UNIT_WMMA_GFX12 is gfx12, where each half holds
// a half of the depth. There the operands are exchanged, so that an item's numbers are in a row of C.
//
// The tests read the first part as C++.
#include "product/gpu/units/kinds.h"
#define LANES LANES_WMMA
#define STEP_WORDS 8
#define FM 16
#define FN 16
#define ACC 8

#if UNIT == UNIT_WMMA
#define RUN RUN_WMMA
#define LANE_WORDS 8
INLINE int acc_row(int i, int lane) { return i * 2 + lane / 16; }
INLINE int acc_column(int i, int lane) { return lane % 16; }
INLINE int a_word_of(int lane) { return 0; }
#else
#define RUN RUN_WMMA_GFX12
#define LANE_WORDS 4
INLINE int acc_row(int i, int lane) { return lane % 16; }
INLINE int acc_column(int i, int lane) { return lane / 16 * 8 + i; }
INLINE int a_word_of(int lane) { return lane / 16 * 4; }
#endif
// A lane holds LANE_WORDS words of this row (column), from a_word_of(lane) on.
INLINE int a_row_of(int lane) { return lane % 16; }

#if !defined(EMULATED) && !defined(__cplusplus)
#if PRECISION == PRECISION_TF32
#error "the device does not multiply in tf32"
#elif PRECISION == PRECISION_FP16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif

INLINE uint4 four_words(__local const uint* operand, int row, int word) {
  const int lane = get_local_id(0);
  return *(__local const uint4*)(operand + row * 16 + place_of_word(a_row_of(lane), word + a_word_of(lane)));
}

#if UNIT == UNIT_WMMA
typedef uint8 FragmentA;
typedef uint8 FragmentB;
INLINE uint8 fragment_a(__local const uint* operand, int row, int step) {
  return (uint8)(four_words(operand, row, step * STEP_WORDS), four_words(operand, row, step * STEP_WORDS + 4));
}
#if PRECISION == PRECISION_FP16
#define WMMA(a, b, c) __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(as_half16(a), as_half16(b), c)
#else
#define WMMA(a, b, c) __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(as_short16(a), as_short16(b), c)
#endif
#else
typedef uint4 FragmentA;
typedef uint4 FragmentB;
INLINE uint4 fragment_a(__local const uint* operand, int row, int step) {
  return four_words(operand, row, step * STEP_WORDS);
}
#if PRECISION == PRECISION_FP16
#define WMMA(a, b, c) __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(as_half8(b), as_half8(a), c)
#else
#define WMMA(a, b, c) __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(as_short8(b), as_short8(a), c)
#endif
#endif
#define fragment_b fragment_a

INLINE void fragment_multiply(float* acc, FragmentA a, FragmentB b) { vstore8(WMMA(a, b, vload8(0, acc)), 0, acc); }
#endif
