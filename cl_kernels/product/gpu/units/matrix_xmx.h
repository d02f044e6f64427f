// Intel: cl_intel_subgroup_matrix_multiply_accumulate. A lane multiplies 8 rows of A by one column of B. UNIT_XMX8
// has sub-groups of 8 (Arc). UNIT_XMX16 has sub-groups of 16 (Data Center GPU Max, which also has tf32).
#include "product/gpu/units/kinds.h"
#if UNIT == UNIT_XMX8
#define LANES LANES_XMX8
#else
#define LANES LANES_XMX16
#endif
#define STEP_WORDS 8
#define FM 8
#define FN LANES
#define ACC 8
#define RUN RUN_XMX

INLINE int acc_row(int i, int lane) { return i; }
INLINE int acc_column(int i, int lane) { return lane; }

#ifndef EMULATED
#pragma OPENCL EXTENSION cl_intel_subgroup_matrix_multiply_accumulate : enable
#if PRECISION == PRECISION_TF32 && UNIT == UNIT_XMX16
#pragma OPENCL EXTENSION cl_intel_subgroup_matrix_multiply_accumulate_tf32 : enable
#elif PRECISION == PRECISION_TF32
#error "the device does not multiply in tf32"
#endif
typedef int8 FragmentB;

// The eight words of a column.
INLINE int8 fragment_b(__local const uint* operand, int column, int step) {
  const int at = column + (int)get_local_id(0);
  return as_int8((uint8)(*(__local const uint4*)(operand + place_of_word(at, step * STEP_WORDS)),
                         *(__local const uint4*)(operand + place_of_word(at, step * STEP_WORDS + 4))));
}

// A lane holds two numbers of each row's depth in sub-groups of 8, and one in sub-groups of 16. In tf32, lanes 0 to 7
// hold the even rows and lanes 8 to 15 the odd rows.
#if UNIT == UNIT_XMX8
typedef int8 FragmentA;
INLINE int8 fragment_a(__local const uint* operand, int row, int step) {
  const int word = step * STEP_WORDS + (int)get_local_id(0);
  int words[8];
  UNROLL
  for (int i = 0; i < 8; ++i) words[i] = (int)operand[place_of_word(row + i, word)];
  return vload8(0, words);
}
#elif PRECISION == PRECISION_TF32
typedef float4 FragmentA;
INLINE float4 fragment_a(__local const uint* operand, int row, int step) {
  const int lane = get_local_id(0), word = step * STEP_WORDS + lane % 8;
  float rows[4];
  UNROLL
  for (int i = 0; i < 4; ++i) rows[i] = as_float(operand[place_of_word(row + 2 * i + lane / 8, word)]);
  return vload4(0, rows);
}
#else
typedef short8 FragmentA;
INLINE short8 fragment_a(__local const uint* operand, int row, int step) {
  const int lane = get_local_id(0);
  short rows[8];
  UNROLL
  for (int i = 0; i < 8; ++i)
    rows[i] = ((__local const short*)(operand + place_of_word(row + i, step * STEP_WORDS + lane / 2)))[lane % 2];
  return vload8(0, rows);
}
#endif

#if PRECISION == PRECISION_TF32
#define DPAS(a, b, c) intel_sub_group_tf32_tf32_matrix_mad_k8(a, as_float8(b), c)
#elif PRECISION == PRECISION_FP16
#define DPAS(a, b, c) intel_sub_group_f16_f16_matrix_mad_k16(a, b, c)
#else
#define DPAS(a, b, c) intel_sub_group_bf16_bf16_matrix_mad_k16(a, b, c)
#endif

INLINE void fragment_multiply(float* acc, FragmentA a, FragmentB b) { vstore8(DPAS(a, b, vload8(0, acc)), 0, acc); }
#endif
