// The results of products of pairs, made of the i32 sums of a tile.
//
// RESULT is int for the sums themselves, which a bias is added to. For float, a sum may be multiplied by the factor
// left[i] * right[j] / over[0] of its row and column. For uchar and char, the sum times the factor is rounded, zero[0]
// is added, and the result saturates. An epilogue with operands of float or of bytes follows (product/epilogue.h). A
// bias has one number for each row, or for each column. Each step is 0 or 1.
#include "common/bytes.h"
#include "product/pairs/pairs.h"

#ifndef RESULT
#define RESULT int
#endif
#define OPERAND float
#include "product/epilogue.h"

#define KIND_int 0
#define KIND_float 1
#define KIND_uchar 2
#define KIND_char 3
#define KIND JOIN(KIND_, RESULT)

// What each sum becomes, and where it goes. Column j of the result is at place j % width of image j / width.
typedef struct {
  __global RESULT* y;
  __global const float *left, *right, *over;
  __global const int* bias;
  __global const RESULT* zero;
  const ScaledParameters* by;
  const Finish* finish;
} Scaled;

// The place of a column in a row of the result.
INLINE long place_of(int column, const ScaledParameters* by) {
  return column / by->width * by->image + column % by->width;
}

// 16 elements of an array whose elements are `step` apart, 0 or 1. Only the first `count` columns exist.
INLINE int16 columns_of(__global const int* from, int column, int count, int step) {
  if (step == 0) return from[0];
  if (count == 16) return LOAD_16(int, from + column);
  int some[16];
  NO_UNROLL
  for (int lane = 0; lane < 16; ++lane) some[lane] = from[column + min(lane, count - 1)];
  return vload16(0, some);
}

#if KIND != KIND_int
// On PAIR_LANES lanes, because functions of sixteen need more than the 16 registers of AVX2.
DEFINE_FINISH(floatv, finish_sums)

// Defines a function that gives an operand of the epilogue for the columns of a tile in one row. They are at `place` on
// if they are together.
#define DEFINE_OPERAND_OF(name, type)                                                                                 \
  typedef JOIN(type, 16) name##_vector __attribute__((aligned(sizeof(type))));                                        \
  INLINE float16 name(__global const type* e, long column_step, int column, int count, long place, bool together,     \
                      const ScaledParameters* by) {                                                                   \
    if (column_step == 0) return convert_float(e[0]);                                                                 \
    if (together) return RESIZED(float16, *(__global const name##_vector*)(e + place));                               \
    float some[16];                                                                                                   \
    NO_UNROLL                                                                                                         \
    for (int lane = 0; lane < 16; ++lane) some[lane] = convert_float(e[place_of(column + min(lane, count - 1), by)]); \
    return vload16(0, some);                                                                                          \
  }
DEFINE_OPERAND_OF(operand0_of, OPERAND0)
DEFINE_OPERAND_OF(operand1_of, OPERAND1)
#endif

#if VW == 16
#define BYTE_OF byte_of16
#define FINISHED(v, a, b) finish_sums(VALUE_OF(v, zero), a, b, f, by->flags)
#else
#define BYTE_OF byte_of
#define FINISHED(v, a, b)                                                      \
  (float16)(finish_sums(VALUE_OF((v).lo, zero), (a).lo, (b).lo, f, by->flags), \
            finish_sums(VALUE_OF((v).hi, zero), (a).hi, (b).hi, f, by->flags))
#endif

#if KIND == KIND_float
#define RESULTS float16
#define VALUE_OF(scaled, zero) (scaled)
#define RESULTS_OF(values) (values)
#elif KIND == KIND_uchar
#define RESULTS uchar16
#define VALUE_OF(scaled, zero) convert_floatv(BYTE_OF(scaled, zero, 0.0f))
#define RESULTS_OF(values) RESIZED(uchar16, convert_int16(values))
#elif KIND == KIND_char
#define RESULTS char16
#define VALUE_OF(scaled, zero) convert_floatv(BYTE_OF(scaled, zero, -128.0f))
#define RESULTS_OF(values) RESIZED(char16, convert_int16(values))
#else
#define RESULTS int16
#endif

// PoCL splits vstore16 of these types.
typedef RESULTS unaligned_results __attribute__((aligned(sizeof(RESULT))));

#if KIND != KIND_int
INLINE float16 factor_of(const Scaled* to, int row, float16 right) {
  const float16 factor = to->left[row * to->by->left_row] * right;
  return to->by->has_over != 0 ? factor / to->over[0] : factor;
}
#endif

// The sums of a row with a panel of a tile.
#if TILE_PANELS == 1
#define SUMS_OF(sums, r, panel) (int16)((sums)[r][0], (sums)[r][1])
#else
#define SUMS_OF(sums, r, panel) (sums)[r][panel]
#endif

// Stores the first `rows` rows and `count` columns of a panel of a tile, whose first row and column are given.
INLINE void store_panel(pairv sums[TILE_ROWS][2], int panel, int row, int rows, int column, int count,
                        const Scaled* to) {
  const ScaledParameters* by = to->by;
  const int16 column_bias = by->bias_column != 0 ? columns_of(to->bias, column, count, 1) : (int16)(0);
#if KIND != KIND_int
  const bool has_factors = by->has_factors != 0;
  float16 right = 0.0f, factor = 1.0f;
  if (has_factors) {
    right = as_float16(columns_of((__global const int*)to->right, column, count, by->right_column));
    factor = factor_of(to, row, right);
  }
#endif
  const long place = place_of(column, by);
  const bool together = count == 16 && column % by->width + 16 <= by->width;
  NO_UNROLL
  for (int r = 0; r < rows; ++r) {
    int16 sum = SUMS_OF(sums, r, panel);
    const int16 bias = by->bias_row != 0 ? (int16)(to->bias[row + r]) : column_bias;
#if KIND == KIND_int
    const RESULTS result = sum + bias;
#else
    if (has_factors && by->left_row != 0) factor = factor_of(to, row + r, right);
    if (by->has_real_bias == 0) sum += bias;
    float16 scaled = convert_float16(sum) * factor;
    if (by->has_real_bias != 0) scaled += as_float16(bias);
    const Finish* f = to->finish;
    float16 first = 0.0f, second = 0.0f;
    if (READS_E0(by->flags))
      first = operand0_of(f->e0 + (row + r) * f->row0, f->column0, column, count, place, together, by);
    if (READS_E1(by->flags))
      second = operand1_of(f->e1 + (row + r) * f->row1, f->column1, column, count, place, together, by);
    const float zero = by->has_zero != 0 ? to->zero[0] : 0;
    const RESULTS result = RESULTS_OF(FINISHED(scaled, first, second));
#endif
    __global RESULT* y = to->y + (row + r) * by->row;
    if (together) {
      *(__global unaligned_results*)(y + place) = result;
      continue;
    }
    RESULT some[16];
    vstore16(result, 0, some);
    NO_UNROLL
    for (int lane = 0; lane < count; ++lane) y[place_of(column + lane, by)] = some[lane];
  }
}

// Stores the first `rows` rows and `count` columns of a tile.
INLINE void store_scaled(pairv sums[TILE_ROWS][2], int row, int rows, int column, int count, const Scaled* to) {
  NO_UNROLL
  for (int panel = 0; panel < (count + 15) / 16; ++panel)
    store_panel(sums, panel, row, rows, column + panel * 16, min(16, count - panel * 16), to);
}

#define SCALED_PARAMETERS                                                                                          \
  __global RESULT *restrict y, const ulong y_offset, __global const float *restrict left, const ulong left_offset, \
      __global const float *restrict right, const ulong right_offset, __global const float *restrict over,         \
      const ulong over_offset, __global const int *restrict bias, const ulong bias_offset,                         \
      __global const RESULT *restrict zero, const ulong zero_offset
#define SCALED_ARGUMENTS \
  y, y_offset, left, left_offset, right, right_offset, over, over_offset, bias, bias_offset, zero, zero_offset
#define SCALED_OF(by, finish)                                                                       \
  {                                                                                                 \
    y + y_offset, left + left_offset, right + right_offset, over + over_offset, bias + bias_offset, \
        zero + zero_offset, by, finish                                                              \
  }
