// NVIDIA: mma.sync with operands that ldmatrix reads. The layout is from the PTX ISA, "Warp-level matrix fragments". A
// fragment is 16 x 16, which is two of the instruction's results of 16 x 8. UNIT_MMA_SM80 needs sm_80. UNIT_MMA_SM75
// has only fp16 and needs sm_75. Its instruction is half as deep, so a step takes twice as many instructions.
//
// The tests read the first part as C++.
#include "product/gpu/units/kinds.h"
#define LANES LANES_MMA
#define STEP_WORDS 8
#define FM 16
#define FN 16
#define ACC 8
#define RUN RUN_MMA

INLINE int acc_row(int i, int lane) { return lane / 4 + (i & 2) * 4; }
INLINE int acc_column(int i, int lane) { return lane % 4 * 2 + (i & 1) + (i & 4) * 2; }

// The row (column) and the word whose address a lane gives to ldmatrix. Eight lanes give the addresses of each of the
// four matrices of 8 x 4 words. The matrices of A are numbered down the rows first, and the matrices of B along the
// depth first.
INLINE int a_row_of(int lane) { return lane % 16; }
INLINE int a_word_of(int lane) { return lane / 16 * 4; }
INLINE int b_row_of(int lane) { return lane % 8 + lane / 16 * 8; }
INLINE int b_word_of(int lane) { return lane / 8 % 2 * 4; }

#if !defined(EMULATED) && !defined(__cplusplus)
typedef uint4 FragmentA;
typedef uint4 FragmentB;

INLINE uint4 read_matrices(__local const uint* from) {
  uint4 r;
  __asm__ volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)
               : "r"((uint)(size_t)from)
               : "memory");
  return r;
}

INLINE FragmentA fragment_a(__local const uint* operand, int row, int step) {
  const int lane = get_local_id(0);
  return read_matrices(operand + row * 16 + place_of_word(a_row_of(lane), step * STEP_WORDS + a_word_of(lane)));
}

INLINE FragmentB fragment_b(__local const uint* operand, int column, int step) {
  const int lane = get_local_id(0);
  return read_matrices(operand + column * 16 + place_of_word(b_row_of(lane), step * STEP_WORDS + b_word_of(lane)));
}

#if UNIT == UNIT_MMA_SM75
#define MMA_HALF(acc, a0, a1, b)                                                                              \
  __asm__ volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};" \
               : "+f"((acc)[0]), "+f"((acc)[1]), "+f"((acc)[2]), "+f"((acc)[3])                               \
               : "r"(a0), "r"(a1), "r"(b))
#define MMA(acc, a, b0, b1)        \
  do {                             \
    MMA_HALF(acc, a.x, a.y, b0);   \
    MMA_HALF(acc, a.z, a.w, b1);   \
  } while (0)
#else
#if PRECISION == PRECISION_TF32
#define MMA_NAME "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"
#elif PRECISION == PRECISION_FP16
#define MMA_NAME "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
#else
#define MMA_NAME "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
#endif
#define MMA(acc, a, b0, b1)                                                                   \
  __asm__ volatile(MMA_NAME " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"    \
               : "+f"((acc)[0]), "+f"((acc)[1]), "+f"((acc)[2]), "+f"((acc)[3])               \
               : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1))
#endif

INLINE void fragment_multiply(float* acc, FragmentA a, FragmentB b) {
  MMA(acc, a, b.x, b.y);
  MMA(acc + 4, a, b.z, b.w);
}
#endif
